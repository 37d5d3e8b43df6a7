# What belongs to the server itself: bots, storage, backups, and how it is doing.

settings-bots = Bots
bots-about = A bot is a member that is a program. It shows its token instead of signing in, and may do what its roles permit.
no-bots = There is no bot yet.
bot-name = Name of the bot
create-bot = Create a bot
bot-token-of = The token of { $name }
bot-token-once = It is shown this once; the server does not keep it. Keep it as you keep a password: anyone with the token can do what the bot may.
bot-token-label = Token
bot-token-kept = I have kept it
bot-token-made = token made by { $name }, { $date }
bot-no-token = no token
bot-token = Make another token
bot-token-title = Make another token for { $name }?
bot-token-text = The one before stops working at once.
bot-delete = Delete the bot
bot-delete-title = Delete the bot { $name }?
bot-delete-text = Its token stops working at once. Its messages stay.
bot-deleted = { $name } is deleted.
settings-storage = Storage
storage-used = Files take { $used } of { $limit }.
storage-beside = The database takes { $database }. { $free } are free on the disk.
storage-by-kind = By what they are for
storage-by-member = By member
storage-of-one = Each member may keep { $limit }.
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
storage-kind-job = Being worked on
storage-kind-server = The server’s icon
storage-kind-unused = Not used any more, soon deleted
retention-forever = As long as their messages
retention-days = For { $time }
retention-title = Delete attachments that are older than { $time }?
retention-text = The server begins at once, and goes on every day. What is deleted cannot be brought back.
retention-do = Delete them
settings-backups = Backups
backups-about = A backup has everything in it: messages, files, members, and all secrets of the server. Download it and keep it where nobody else can read it. The server keeps five.
no-backups = There is no backup on the server.
backup-make = Make a backup
backup-making = A backup is being made. You can go on meanwhile.
backup-download = Download
backup-delete = Delete
backup-delete-title = Delete this backup?
backup-delete-text = It cannot be brought back. Copies that you have downloaded stay.
backups-restore = A backup is restored on the machine where the server runs: svc admin restore.
