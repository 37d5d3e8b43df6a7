# Administration: shared texts, channels and permissions.

show-more = Afficher plus
type-its-name = Tape « { $name } » pour continuer
pick-hint = Nom d’un rôle ou d’une personne
pick-member-hint = Nom d’un membre
remove-target = Retirer { $name }
role-gone = Un rôle supprimé
menu-of = Plus d’options pour { $name }
settings-of = Paramètres de { $name }
settings-channels = Salons
lasting-none = Aucun
lasting-seconds = { $count ->
    [one] { $count } seconde
   *[other] { $count } secondes
}
lasting-minutes = { $count ->
    [one] { $count } minute
   *[other] { $count } minutes
}
lasting-hours = { $count ->
    [one] { $count } heure
   *[other] { $count } heures
}
lasting-days = { $count ->
    [one] { $count } jour
   *[other] { $count } jours
}

## Channels

channels-about = Tous les salons, dans l’ordre de la liste latérale.
channels-keys = Fais-les glisser dans la liste, ou appuie sur Ctrl+Maj+Flèche sur l’un d’eux.
create-channel = Créer un salon
create-text-channel = Créer un salon textuel
create-voice-channel = Créer un salon vocal
create-channel-in = Créer un salon dans { $name }
channel-kind = Type
channel-text = Texte
channel-text-hint = Messages, images et fichiers
channel-voice = Vocal
channel-voice-hint = Parler, avec caméras et partages d’écran
channel-category = Catégorie
channel-category-hint = Un titre sous lequel des salons sont regroupés
channel-name-missing = Saisis un nom.
channel-topic-hint = À quoi sert le salon. Le sujet s’affiche en haut.
no-category = Aucune catégorie
channel-private = Privé
channel-private-hint = Seuls les rôles et les personnes que tu choisis le voient. Le propriétaire le voit toujours.
channel-access-add = Qui le voit
channel-access = Ceux qui le voient
channel-access-empty = Personne d’autre pour l’instant.
channel-settings = Paramètres d’un salon
channel-gone = Ce salon n’existe plus.
channel-page-overview = Vue d’ensemble
channel-page-permissions = Permissions
slow-mode-hint = Le temps que chaque membre attend avant son prochain message. La modération n’attend pas.
user-limit-hint = Combien de personnes peuvent participer à l’appel. 0 signifie sans limite.
user-limit-of = Places occupées : { $count } sur { $limit }
bitrate-usual = Automatique
kbps = { $kbps } kbit/s
encrypt-calls-hint = Seules les personnes présentes peuvent entendre et voir l’appel ; le serveur n’a pas la clé. Jusqu’à 25 personnes. Tu peux le changer tant que personne n’est dans le salon.
channel-archive = Archiver le salon
channel-archive-text = Un salon archivé quitte la liste. On peut encore y faire des recherches, et tu peux le rétablir.
channel-archived = { $name } est archivé.
archived-channels = Salons archivés
bring-back = Rétablir
channel-delete = Supprimer
channel-delete-title = Supprimer { $name } ?
channel-delete-text = Tous ses messages disparaissent avec lui. Ils ne pourront pas être rétablis.
category-delete-text = Ses salons restent, sans catégorie.
edit-channel = Paramètres du salon
edit-named = Modifier { $name }
channel-permissions = Permissions
move-up = Monter
move-down = Descendre
move-up-named = Monter { $name }
move-down-named = Descendre { $name }
overrides = Ce que les rôles et les personnes peuvent faire ici
overrides-about = Sans choix ici, chacun peut faire ce que ses rôles permettent sur le serveur. Si l’un de ses rôles est autorisé ici, la personne l’est aussi ; une entrée pour la personne elle-même décide en dernier.
overrides-add = Voir en tant que rôle ou personne
overrides-for = Rôles et personnes avec leurs propres choix
overrides-of = Permissions de { $name } dans ce salon
override-allow = Autoriser
override-deny = Refuser
override-neutral = Selon ses rôles
result-of-role = Vu comme une personne qui a seulement le rôle { $name } : chaque ligne finit par ce qu’elle peut faire ici.
result-of-person = Vu comme { $name }, avec tous ses rôles : chaque ligne finit par ce que cette personne peut faire ici.
outcome-may = peut
outcome-may-not = ne peut pas

## Permissions

permissions-text = Texte
permissions-voice = Vocal
permissions-members = Membres
permissions-server = Serveur
permission-view-channel = Voir le salon
permits-view-channel = Lire ses messages et voir qui y parle.
permission-send-messages = Envoyer des messages
permits-send-messages = Écrire, et modifier ce que l’on a écrit.
permission-attach-files = Joindre des fichiers
permits-attach-files = Envoyer des images, des vidéos et d’autres fichiers.
permission-add-reactions = Ajouter des réactions
permits-add-reactions = Répondre à un message par un emoji.
permission-manage-messages = Gérer les messages
permits-manage-messages = Supprimer et épingler les messages des autres, et écrire sans attendre en mode lent.
permission-mention-everyone = Mentionner tout le monde
permits-mention-everyone = Notifier tout un rôle, tout le monde, ou toutes les personnes en ligne.
permission-manage-webhooks = Gérer les webhooks
permits-manage-webhooks = Créer des adresses avec lesquelles des programmes publient ici.
permission-join-voice = Rejoindre les appels
permits-join-voice = Entrer dans les salons vocaux et écouter.
permission-speak = Parler
permits-speak = Se faire entendre dans les appels.
permission-share-video = Partager la caméra
permits-share-video = Se montrer dans les appels.
permission-share-screen = Partager l’écran
permits-share-screen = Montrer un écran, une fenêtre ou un onglet dans les appels.
permission-mute-members = Couper le micro des membres
permits-mute-members = Couper le micro et le son des autres dans les appels.
permission-move-members = Déplacer des membres
permits-move-members = Déplacer les autres vers un autre appel, ou mettre fin à leur appel.
permission-change-nickname = Changer son propre nom
permits-change-nickname = Choisir son propre nom et son statut.
permission-create-invites = Créer des invitations
permits-create-invites = Créer des liens avec lesquels on rejoint le serveur.
permission-manage-invites = Gérer les invitations
permits-manage-invites = Voir et révoquer les invitations des autres.
permission-manage-nicknames = Renommer des membres
permits-manage-nicknames = Changer le nom des membres ayant un rôle inférieur.
permission-timeout-members = Exclure temporairement des membres
permits-timeout-members = Limiter pour un temps à la lecture les membres ayant un rôle inférieur.
permission-kick-members = Expulser des membres
permits-kick-members = Retirer des membres ayant un rôle inférieur. Ils peuvent revenir avec une invitation.
permission-ban-members = Bannir des membres
permits-ban-members = Retirer définitivement des membres ayant un rôle inférieur, et lever des bannissements.
permission-view-reports = Voir les signalements
permits-view-reports = Lire ce que les membres signalent, et ce qu’a fait la modération.
permission-view-audit-log = Voir le journal d’audit
permits-view-audit-log = Lire qui a modifié quoi sur ce serveur.
permission-manage-emoji = Gérer les emojis
permits-manage-emoji = Ajouter, renommer et supprimer les emojis du serveur.
permission-manage-bots = Gérer les bots
permits-manage-bots = Créer des bots et leurs jetons, et supprimer ceux d’un rôle inférieur au sien.
permission-manage-automod = Gérer la modération automatique
permits-manage-automod = Créer, essayer, modifier et supprimer les règles qui examinent les messages.
permission-manage-channels = Gérer les salons
permits-manage-channels = Créer, modifier, ordonner et supprimer des salons.
permission-manage-roles = Gérer les rôles
permits-manage-roles = Créer, modifier, donner et retirer des rôles inférieurs au sien.
