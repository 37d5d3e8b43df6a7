inbox = Mentions
inbox-empty = Nobody has mentioned you yet. Messages that mention you, one of your roles or everybody, and replies to you, appear here.
inbox-new = New
inbox-read = Mark all as read
shortcut-inbox = Mentions of you
