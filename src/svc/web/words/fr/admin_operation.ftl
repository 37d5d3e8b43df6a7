# Server operation: bots, storage and backups.

settings-bots = Bots
bots-about = Un bot est un membre qui est un programme. Au lieu de se connecter, il montre son jeton ; il peut faire ce que ses rôles permettent.
no-bots = Il n’y a pas encore de bot.
bot-name = Nom du bot
create-bot = Créer un bot
bot-token-of = Le jeton de { $name }
bot-token-once = Il n’est montré que cette fois ; le serveur ne le conserve pas. Garde-le comme un mot de passe : toute personne qui l’a peut faire ce que peut le bot.
bot-token-label = Jeton
bot-token-kept = Je l’ai gardé
bot-token-made = jeton créé par { $name }, { $date }
bot-no-token = pas de jeton
bot-token = Créer un autre jeton
bot-token-title = Créer un autre jeton pour { $name } ?
bot-token-text = Le précédent cesse aussitôt de fonctionner.
bot-delete = Supprimer le bot
bot-delete-title = Supprimer le bot { $name } ?
bot-delete-text = Son jeton cesse aussitôt de fonctionner. Ses messages restent.
bot-deleted = { $name } est supprimé.
settings-storage = Stockage
storage-used = Les fichiers occupent { $used } sur { $limit }.
storage-beside = La base de données occupe { $database }. Il reste { $free } sur le disque.
storage-by-kind = Par usage
storage-by-member = Par membre
storage-of-one = Chaque membre peut conserver { $limit }.
storage-empty = Rien n’est encore stocké.
storage-files = { $count ->
    [one] 1 fichier
   *[other] { $count } fichiers
}
storage-others = Tous les autres
storage-kind-message = Messages
storage-kind-member = Images des membres
storage-kind-webhook = Images des webhooks
storage-kind-emoji = Emojis
storage-kind-draft = Brouillons
storage-kind-job = En traitement
storage-kind-server = Icône du serveur
storage-kind-private = Fichiers des conversations privées
storage-kind-unused = Plus utilisés, bientôt supprimés
retention-forever = Aussi longtemps que leurs messages
retention-days = Pendant { $time }
retention-title = Supprimer les pièces jointes de plus de { $time } ?
retention-text = Le serveur commence aussitôt, puis continue chaque jour. Ce qui est supprimé ne peut pas être récupéré.
retention-do = Les supprimer
settings-backups = Sauvegardes
backups-about = Une sauvegarde contient tout : messages, fichiers, membres et tous les secrets du serveur. Télécharge-la et garde-la là où personne d’autre ne peut la lire. Le serveur en conserve cinq.
no-backups = Il n’y a pas de sauvegarde sur le serveur.
backup-make = Créer une sauvegarde
backup-making = Une sauvegarde est en cours. Tu peux continuer pendant ce temps.
backup-download = Télécharger
backup-delete = Supprimer
backup-delete-title = Supprimer cette sauvegarde ?
backup-delete-text = Elle ne peut pas être récupérée. Les copies téléchargées restent.
backups-restore = Une sauvegarde se restaure sur la machine où tourne le serveur : svc admin restore.
