inbox = Mentions
inbox-empty = No mentions yet. Replies to you and messages that mention you, your roles or everyone appear here.
inbox-new = New
inbox-read = Mark all as read
shortcut-inbox = Open your mentions
