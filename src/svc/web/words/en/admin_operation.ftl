# Operation of the server: bots, storage, backups and health.

settings-bots = Bots
bots-about = A bot is a program that is a member. It uses a token instead of signing in, and can do what its roles permit.
no-bots = There are no bots yet.
bot-name = Name of the bot
create-bot = Create a bot
bot-token-of = The token of { $name }
bot-token-once = It is shown only once; the server does not keep it. Treat it like a password: anyone with the token can do what the bot can.
bot-token-label = Token
bot-token-kept = I have saved it
bot-token-made = token made by { $name }, { $date }
bot-no-token = no token
bot-token = Make another token
bot-token-title = Make another token for { $name }?
bot-token-text = The old one stops working at once.
bot-delete = Delete the bot
bot-delete-title = Delete the bot { $name }?
bot-delete-text = Its token stops working at once. Its messages stay.
bot-deleted = { $name } is deleted.
settings-storage = Storage
storage-used = Files use { $used } of { $limit }.
storage-beside = The database uses { $database }. { $free } are free on the disk.
storage-by-kind = By purpose
storage-by-member = By member
storage-of-one = Each member can keep { $limit }.
storage-empty = Nothing is stored yet.
storage-files = { $count ->
    [one] 1 file
   *[other] { $count } files
}
storage-others = Everybody else
storage-kind-message = Messages
storage-kind-member = Pictures of members
storage-kind-webhook = Pictures of webhooks
storage-kind-emoji = Emoji
storage-kind-draft = Drafts
storage-kind-job = Being processed
storage-kind-server = The server’s icon
storage-kind-private = Files in private conversations
storage-kind-unused = Unused, deleted soon
retention-forever = As long as their messages
retention-days = For { $time }
retention-title = Delete attachments that are older than { $time }?
retention-text = The server starts at once and repeats this every day. Deleted files cannot be brought back.
retention-do = Delete them
settings-backups = Backups
backups-about = A backup contains everything: messages, files, members, and all secrets of the server. Download it and keep it where nobody else can read it. The server keeps five.
no-backups = There is no backup on the server.
backup-make = Make a backup
backup-making = A backup is being made. You can continue meanwhile.
backup-download = Download
backup-delete = Delete
backup-delete-title = Delete this backup?
backup-delete-text = This cannot be undone. Copies that you have downloaded stay.
backups-restore = To restore a backup, run svc admin restore on the server’s machine.
