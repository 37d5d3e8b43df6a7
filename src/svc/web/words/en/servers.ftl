## Several servers in one window

settings-servers = Servers
servers-manage = Add or remove servers
servers-text = Your other servers appear at the side of this page, with their unread messages. Only this browser keeps the list: no server receives it.
servers-address = Address, invite link, or server link
servers-address-hint = You find the server link of another server in its settings, under Servers. With it you see unread messages and mentions here.
servers-add = Add
servers-no-address = This is not the address of a server.
servers-this = This is the server that you are on.
servers-without-counts = without unread messages, because its server link is missing
servers-unreachable = no response, or its server link was revoked
servers-more = More about { $name }
servers-up = Move up
servers-down = Move down
servers-remove = Remove
servers-own = Show this server elsewhere
servers-own-text = With this link the page of another server shows how many unread messages and mentions you have here. It shows these numbers and nothing else.
servers-make-link = Make a server link
servers-link = Your server link
servers-link-warning = Paste it at another server, under Settings, Servers. Anyone who has it can see your numbers.
servers-renew-link = Make a new link
servers-revoke-link = Revoke the link
servers-copy = The same list at another server
servers-copy-text = Paste this list there in the same field. The page of that server can then read it, so do this only at servers that you trust.
servers-copy-all = Copy the list
servers-mentions = { $count ->
    [one] 1 mention
   *[other] { $count } mentions
}
servers-unread = { $count ->
    [one] 1 unread message
   *[other] { $count } unread messages
}
