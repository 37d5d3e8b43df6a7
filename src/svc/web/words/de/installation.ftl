# The page as an application: new versions, offline content, and content shared from elsewhere.

new-version = Eine neue Version ist da.
load-version = Laden
update-later = Es wird noch etwas gesendet. Lade die neue Version, wenn das fertig ist.
shown-from = Offline. Du siehst, was du zuletzt gelesen hast (Stand: { $time }).
share-title = In einem Kanal teilen
share-from-site = { $host } möchte hier etwas teilen.
share-from-outside = Eine andere App oder Seite möchte hier etwas teilen.
share-find = Kanal suchen
share-nowhere = Hier gibt es keinen Kanal, in dem du schreiben darfst.
install = Diese Seite als App installieren
