# The page as an application: new versions, offline content, and content shared from elsewhere.

new-version = Une nouvelle version est disponible.
load-version = La charger
update-later = Un envoi est encore en cours. Charge la nouvelle version quand il sera terminé.
shown-from = Hors ligne. Tu vois ce que tu as lu en dernier : { $time }.
share-title = Partager dans un salon
share-from-site = { $host } veut partager quelque chose ici.
share-from-outside = Une autre application ou un autre site veut partager quelque chose ici.
share-find = Trouver un salon
share-nowhere = Il n’y a ici aucun salon où tu puisses écrire.
install = Installer cette page comme application
