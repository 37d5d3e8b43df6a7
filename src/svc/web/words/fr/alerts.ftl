# Notifications: levels, mutes, sounds, notices and Web Push.

notifications = Notifications
notifications-muted = Notifications : en sourdine
channel-muted = en sourdine
mark-read = Marquer comme lu
mark-unread = Marquer comme non lu
notify-about = M’avertir pour
level-default = Comme partout ({ $level })
level-all = Tous les messages
level-mentions = Mentions
level-nothing = Rien
mute-for = Mettre en sourdine
mute-15-minutes = Pendant 15 minutes
mute-1-hour = Pendant 1 heure
mute-8-hours = Pendant 8 heures
mute-24-hours = Pendant 24 heures
mute-until-changed = Jusqu’à ce que je réactive
muted-until = En sourdine jusqu’à { $time }
muted-for-good = En sourdine
unmute-channel = Réactiver les notifications

## Settings

settings-notifications = Notifications
level-of-all = M’avertir pour (par défaut dans tous les salons)
mute-all = Tout mettre en sourdine
this-device = Sur cet appareil
notices = Afficher des notifications quand cette page est ouverte
notices-hint = Seulement quand tu n’as pas la page sous les yeux.
notices-refused = Ton navigateur n’autorise pas cette page à afficher des notifications. Autorise-les à côté de l’adresse, puis reviens ici.
push = M’avertir sur cet appareil quand la page est fermée
push-off = L’éditeur de ton navigateur transmet les messages, chiffrés, et ne peut pas les lire.
push-on = Activé. Tu reçois des notifications sur cet appareil quand aucune de tes pages n’est visible.
push-busy = Un instant…
push-insecure = Les navigateurs ne le permettent que pour les adresses https://. Demande l’adresse https:// de ce serveur à la personne qui le gère.
push-install = Sur iPhone et iPad, ajoute d’abord cette page à l’écran d’accueil, puis active cette option là-bas.
push-unsupported = Ce navigateur ne le permet pas. D’autres le peuvent : Firefox, Chrome, Edge et Safari.
push-refused = Ton navigateur n’autorise pas cette page à t’avertir. Autorise les notifications à côté de l’adresse, puis reviens ici.
push-failed = Le service de notifications de ton navigateur est injoignable ou désactivé dans ses paramètres. Réessaie plus tard.
sounds = Sons
sound-message = Un message
sound-mention = Une mention ou une réponse qui t’est adressée
sound-join = Quelqu’un rejoint ton appel
sound-leave = Quelqu’un quitte ton appel
sound-mute = Tu coupes ou réactives ton micro
listen = Écouter
listen-to = Écouter : { $sound }
