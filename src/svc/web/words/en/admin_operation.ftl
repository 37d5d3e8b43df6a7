# Server operation: bots, storage and backups.

settings-bots = Bots
bots-about = A bot is a program that joins as a member. It uses a token instead of signing in, and has the permissions of its roles.
no-bots = There are no bots yet.
bot-name = Bot name
create-bot = Create bot
bot-token-of = Token for { $name }
bot-token-once = The token is shown only once. Treat it like a password: anyone with it can do everything the bot can.
bot-token-label = Token
bot-token-kept = I’ve saved it
bot-token-made = token created by { $name }, { $date }
bot-no-token = no token
bot-token = Replace token
bot-token-title = Replace the token for { $name }?
bot-token-text = The old token stops working immediately.
bot-delete = Delete bot
bot-delete-title = Delete the bot { $name }?
bot-delete-text = Its token stops working immediately. Its messages stay.
bot-deleted = { $name } was deleted.
settings-storage = Storage
storage-used = Files use { $used } of { $limit }.
storage-beside = The database uses { $database }. { $free } of disk space is free.
storage-by-kind = By type
storage-by-member = By member
storage-of-one = Each member can store up to { $limit }.
storage-empty = Nothing is stored yet.
storage-files = { $count ->
    [one] 1 file
   *[other] { $count } files
}
storage-others = Everyone else
storage-kind-message = Attachments
storage-kind-member = Profile pictures
storage-kind-webhook = Webhook pictures
storage-kind-emoji = Emoji
storage-kind-draft = Drafts
storage-kind-job = Processing
storage-kind-server = Server icon
storage-kind-private = Files in private conversations
storage-kind-unused = Unused (deleted soon)
retention-forever = As long as the message
retention-days = For { $time }
retention-title = Delete attachments older than { $time }?
retention-text = Deletion starts now and repeats every day. Deleted files can’t be restored.
retention-do = Delete attachments
settings-backups = Backups
backups-about = A backup contains everything: messages, files, members and all secrets of the server. Download it and store it where nobody else can read it. The server keeps the last five.
no-backups = There are no backups on the server.
backup-make = Create backup
backup-making = Creating a backup. You can keep working.
backup-download = Download
backup-delete = Delete backup
backup-delete-title = Delete this backup?
backup-delete-text = This can’t be undone. Downloaded copies aren’t affected.
backups-restore = To restore a backup, run svc admin restore on the server’s machine.
