inbox = Mentions
inbox-empty = Nobody has mentioned you yet. Messages that name you, one of your roles or everybody, and answers to you stand here.
inbox-new = New
inbox-read = Mark all as read
shortcut-inbox = Mentions of you
