# The texts in the page, grouped by view. Placeholders are in braces.

close = Fermer
cancel = Annuler
save = Enregistrer
saved = Enregistré.
unsaved-changes = Modifications non enregistrées
discard = Annuler
show = Afficher
edit = Modifier
delete = Supprimer
dismiss = Ignorer
more = Plus
loading = Chargement…
connecting = Connexion…
try-again = Réessayer
nothing-found = Aucun résultat.
today = Aujourd’hui
yesterday = Hier
somebody = Quelqu’un
others = { $count ->
    [one] { $count } autre
   *[other] { $count } autres
}
fault-title = Un problème est survenu dans cette page
fault-text = Ce que tu as écrit est conservé. Réessaie ; si cela n’aide pas, recharge la page.

## Channels

this-server = Ce serveur
server-settings = Paramètres du serveur
channels = Salons
show-channels = Afficher les salons
text-channels = Texte
voice-channels = Vocal
voice-channel = salon vocal
unread-count = { $count ->
    [one] { $count } non lu
   *[other] { $count } non lus
}
mention-count = { $count ->
    [one] { $count } mention
   *[other] { $count } mentions
}
people-in = Personnes dans { $channel }
no-channels = Il n’y a ici aucun salon que tu puisses voir.
offline-text = Le serveur est injoignable pour le moment. Nouvelle tentative en cours.
reconnecting = Reconnexion…
crowded = Trop de tes pages sont ouvertes, et celle-ci était la plus ancienne. Recharge-la pour continuer ici.
switcher-open = Aller à…
switcher-keys = Ctrl K
switcher-title = Aller à
switcher-field = Salon ou personne

## Messages

messages = Messages
beginning = C’est le début de { $channel }.
empty-channel = Personne n’a encore écrit dans { $channel }. Dis bonjour !
to-newest = Aux plus récents
new-messages = Nouveau
message-of = Message de { $name }
about = À propos de { $name }
channel-more = Plus sur ce salon
message-to = Message dans { $channel }
message-gone = Ce message n’existe plus.
channel-not-found = Ce salon n’existe pas, ou tu ne peux pas le voir.
go-to-message = Aller au message
earlier-message = Un message précédent
blocked-message = Tu as bloqué ce membre.
bot = Bot
mark-webhook = webhook
mark-edited = modifié
mark-pinned = épinglé
file-count = { $count ->
    [one] Un fichier
   *[other] { $count } fichiers
}
typing = { $count ->
    [one] { $names } écrit…
   *[other] { $names } écrivent…
}
many-typing = Plusieurs personnes écrivent…
react = Réagir
react-with = Réagir avec
react-with-sign = Réagir avec { $sign }
reactions = Réactions
no-reactions = Personne n’a encore réagi.
reaction-count = { $count ->
    [one] { $count } personne
   *[other] { $count } personnes
}
reply = Répondre
forward = Transférer
pin = Épingler
unpin = Désépingler
copy-text = Copier le texte
select-text = Sélectionner du texte
copy-id = Copier l’ID
copy-link = Copier le lien du message
copied = Copié.
link-copied = Le lien est copié.
copy-failed = Le navigateur n’autorise pas la page à copier.
edit-message = Modifier le message
delete-message-title = Supprimer ce message ?
delete-message-text = Il disparaîtra pour tout le monde.
delete-message = Supprimer le message
pins = Messages épinglés
no-pins = Rien n’est encore épinglé ici.
search = Rechercher
search-field = Rechercher des messages
searching = Recherche…
search-count = { $more ->
    [yes] Les { $count } messages les plus récents
   *[other] { $count ->
        [one] Un message
       *[other] { $count } messages
    }
}
search-nothing = Aucun message trouvé. Essayez d’autres mots, ou moins de mots.
search-more = Afficher les plus anciens
search-filter-values = Valeurs pour ce filtre
search-kind-unknown = « { $value } » ne va pas avec « { $filter }: ». Tu peux utiliser { $kinds }.
search-day-unknown = « { $value } » n’est pas une date. Écris-la ainsi : 2026-01-31.
search-day-excluded = « { $filter }: » ne peut pas être exclu. Utilise plutôt « { $other }: ».
# Single words without spaces: the names and values of the filters in the search field.
search-from = de
search-in = dans
search-has = contient
search-before = avant
search-after = après
search-has-link = lien
search-has-image = image
search-has-video = vidéo
search-has-audio = son
search-has-file = fichier
search-has-card = carte
search-has-pin = épinglé
search-has-reaction = réaction
jump-to-date = Aller à une date
date = Date
jump-hint = Tu arrives au premier message depuis le début de ce jour.
jump = Aller
date-missing = Choisis une date.

## Composer

send = Envoyer
attach = Joindre des fichiers
files = Fichiers
read-only = Ici, tu peux lire, mais pas écrire.
in-timeout-until = Exclusion temporaire jusqu’à { $time }.
may-not-attach = Tu ne peux pas joindre de fichiers ici.
too-many-files = Un message accepte dix fichiers.
files-on-their-way = Ton message sera envoyé dès que les fichiers seront téléversés.
replying-to = Réponse à { $name }
cancel-reply = Ne pas répondre
ping = Notifier
upload-sending = Envoi
upload-waits = La connexion est perdue. L’envoi reprendra tout seul.
upload-checking = Vérification
upload-done = Prêt
upload-cut-off = La connexion a été perdue.
remove-file = Retirer { $name }
not-sent = Non envoyé. { $reason }
edit-unsent = Le modifier
sent-when-back = L’envoi se fera au retour de la connexion.

## People

people = Personnes
members = Membres
members-count = Membres · { $count }
find-member = Trouver un membre
here-now = En ligne
away = Hors ligne
profile = Profil
member-unknown = Cette personne n’est plus membre ici.
is-online = En ligne
is-away = Hors ligne
in-timeout = Exclusion temporaire : lecture seule.
joined-on = Membre depuis le { $date }
roles = Rôles
role-owner = Propriétaire
role-admin = Administrateurs
role-moderator = Modérateurs
role-member = Membres
role-guest = Invités
mention = Mentionner { $name }
block = Bloquer { $name }
unblock = Débloquer { $name }

## Calls

call-none = Aucun appel
call-joining = Connexion…
call-connected = En appel
call-ringing = Ça sonne…
call-reconnecting = Reconnexion…
call-replaced = Tu as rejoint l’appel depuis un autre onglet ou appareil.
call-removed = Quelqu’un a mis fin à ta participation à l’appel.
call-controls = Commandes de l’appel
your-call = Ton appel
people-in-call = { $count ->
    [one] { $count } personne
   *[other] { $count } personnes
}
people-in-room = Personnes dans le salon
alone-in-call = Il n’y a que toi pour l’instant. Les autres te voient dans la liste des salons et peuvent te rejoindre.
are-here = { $count ->
    [one] { $names } est là.
   *[other] { $names } sont là.
}
nobody-here = Personne n’est encore là.
join-call = Rejoindre l’appel
join-options = Rejoindre avec…
join-with = Rejoindre { $channel } avec…
may-not-join = Tu ne peux pas rejoindre d’appels ici.
with-mic = Microphone
with-camera = Caméra
mute = Couper le micro
unmute = Réactiver le micro
deafen = Couper le son
undeafen = Réactiver le son
muted = micro coupé
muted-by-moderator = micro coupé par la modération
deafened = son coupé
deafened-by-moderator = son coupé par la modération
start-camera = Activer la caméra
stop-camera = Arrêter la caméra
share-screen = Partager l’écran
stop-sharing = Arrêter le partage
leave-call = Quitter
name-you = { $name } (toi)
your-screen = Ton écran
screen-of = Écran de { $name }
sound-blocked = Ton navigateur bloque le son. Appuie ici pour écouter.

## Settings

settings = Paramètres
settings-all = Tous les paramètres
settings-pages = Pages des paramètres
settings-find = Trouver un paramètre
settings-group-own = Ton compte
settings-group-community = Communauté
settings-group-moderation = Modération
settings-group-system = Système
settings-profile = Profil
settings-look = Apparence et langue
settings-identity = Déconnexion
your-status = Statut
choose-picture = Choisir une image
remove-picture = Retirer l’image
picture-checked = L’image s’affiche une fois vérifiée par le serveur.
theme = Thème
theme-system = Comme le système
theme-light = Clair
theme-dark = Sombre
motion = Animations
motion-system = Comme le système
motion-reduced = Réduites
density = Messages
density-cosy = Aérés
density-compact = Compacts
text-size = Taille du texte
language = Langue
language-browser = Comme le navigateur
sign-out = Se déconnecter
sign-out-title = Se déconnecter ?
change-identity = Utiliser un autre nom
give-up-identity-title = Abandonner ton identité ici ?
give-up-identity-text = La clé de ce navigateur est détruite. Sans un autre appareil que tu as associé, plus personne ne pourra se connecter en ton nom, pas même toi. Tes messages restent.
shortcuts = Raccourcis clavier
shortcut-send = Envoyer
shortcut-new-line = Nouvelle ligne
shortcut-edit-last = Modifier ton dernier message
shortcut-read = Fermer le panneau latéral, ou marquer le salon comme lu et aller au message le plus récent
shortcut-switcher = Aller à un salon ou à une personne
shortcut-search = Rechercher
shortcut-sheet = Ces raccourcis
shortcut-previous = Le salon au-dessus
shortcut-next = Le salon en dessous
shortcut-next-unread = Le prochain salon avec du non lu
shortcut-previous-unread = Le salon précédent avec du non lu
shortcut-settings = Ouvrir les paramètres
shortcut-page = Messages précédents, pendant que vous écrivez
shortcut-all-read = Tout marquer comme lu
shortcut-mute = Couper ou réactiver le micro
shortcut-deafen = Couper ou réactiver le son
shortcut-camera = Activer ou arrêter la caméra

slow-mode-here = Mode lent : après chaque message, tu attends { $time }.
