## Several servers in one window

settings-servers = Servers
servers-manage = Add or remove servers
servers-text = Your other servers appear in the sidebar with their unread messages. The list is stored only in this browser. No server receives it.
servers-address = Address, invite link, or server link
servers-address-hint = With a server link, you see unread messages and mentions here. Find it in the other server’s settings, under Servers.
servers-add = Add
servers-no-address = This isn’t the address of a server.
servers-this = You’re already on this server.
servers-without-counts = no unread messages without a server link
servers-unreachable = not responding, or its server link was revoked
servers-more = More about { $name }
servers-up = Move up
servers-down = Move down
servers-remove = Remove
servers-own = Show this server on other servers
servers-own-text = With a server link, the page of another server can show how many unread messages and mentions you have here. The link reveals nothing else.
servers-make-link = Create server link
servers-link = Your server link
servers-link-warning = Paste it on another server, under Settings > Servers. Anyone with the link can see these counts.
servers-renew-link = Replace link
servers-revoke-link = Revoke link
servers-copy = Copy your list to another server
servers-copy-text = Paste the list into the same field on the other server. Its page can then read the list, so do this only on servers you trust.
servers-copy-all = Copy list
servers-mentions = { $count ->
    [one] 1 mention
   *[other] { $count } mentions
}
servers-unread = { $count ->
    [one] 1 unread message
   *[other] { $count } unread messages
}

link-accounts = Linked accounts
link-accounts-text = Show on your profile that you are also a member of another server. The pages of both servers ask you first. Each signs with its own key, so nobody else can claim to be you.
link-choose = Link an account
link-no-servers = Add the other server above first.
link-title = Link your accounts
link-start = Your profile here can show that you are also a member of { $host }. The page of that server opens now and asks you to confirm it.
link-start-note = The page of { $host } learns which account you have here. Your profile shows nothing until you agree.
link-continue = Continue there
link-request-title = Is the account at { $host } yours?
link-request = { $host } asks you to confirm that your account there and your account here belong to the same person.
link-request-note = Confirm this only if you have just started it at { $host } yourself. The page there learns which account you have here. The server that you are on does not learn about { $host }.
link-confirm = Yes, both are mine
link-show-title = Show the account on your profile?
link-show = { $host } has confirmed your account. Your profile here can now show it to everybody on this server.
link-show-note = This server then learns that you are a member of { $host }. You can remove the account at any time, and withdraw the confirmation there.
link-show-action = Show it on my profile
link-done-title = Your accounts are linked
link-done = Your profile here now shows { $host }.
link-both = Should your profile at { $host } show this server too? Its page asks you first.
link-both-action = Ask there
link-unknown = { $host } asks about a linked account, but it is not one of your servers here. Add it in the settings, under Servers, and start again.
link-expired = This request is too old. Start again at { $host }.
link-invalid = This request for a linked account is not valid. Start again on the server where you began.
link-also = Also on { $host }
link-unchecked = Not checked yet
link-verify = Check with { $host }
link-verify-short = Check
link-verify-hint = { $host } then learns that you have looked at this account
link-verified = Verified: the same person as { $name }
link-not-confirmed = Not confirmed there, or no longer
link-no-response = No response, or your server link was revoked
link-unverified = Only members of both servers can check this
link-remove = Remove { $host } from the profile
link-since = On your profile since { $date }
link-confirmations = Your confirmations
link-confirmations-text = You confirmed to these servers that you have an account here. After you withdraw a confirmation, it can no longer be verified.
link-another-server = Another server
link-confirmed-on = Confirmed on { $date }
link-withdraw = Withdraw the confirmation for { $host }
link-withdraw-short = Withdraw
