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
link-accounts-text = Show on your profile that you’re also a member of another server. Both servers ask you to confirm, so nobody else can claim to be you.
link-choose = Link an account
link-no-servers = Add the other server above first.
link-title = Link your accounts
link-start = Your profile here can show that you’re also a member of { $host }. To confirm, continue on the page of that server.
link-start-note = { $host } learns which account you have here. Your profile shows nothing until you agree.
link-continue = Continue
link-request-title = Is the account on { $host } yours?
link-request = { $host } asks you to confirm that your accounts there and here belong to the same person.
link-request-note = Confirm only if you started this on { $host } yourself. { $host } learns which account you have here. This server learns nothing about { $host }.
link-confirm = Yes, both are mine
link-show-title = Show the account on your profile?
link-show = { $host } has confirmed your account. Your profile here can now show it to everyone on this server.
link-show-note = This server then knows that you’re a member of { $host }. You can remove the account here and withdraw the confirmation there at any time.
link-show-action = Show on my profile
link-done-title = Your accounts are linked
link-done = Your profile here now shows { $host }.
link-both = Should your profile on { $host } show this server too? The page there asks you first.
link-both-action = Continue
link-unknown = { $host } asks to link an account, but it isn’t one of your servers here. Add it under Settings > Servers, then start again.
link-expired = This request has expired. Start again on { $host }.
link-invalid = This request to link accounts isn’t valid. Start again on the server where you began.
link-also = Also on { $host }
link-unchecked = Not verified yet
link-verify = Verify with { $host }
link-verify-short = Verify
link-verify-hint = { $host } learns that you looked up this account
link-verified = Verified: the same person as { $name }
link-not-confirmed = Not confirmed, or no longer
link-no-response = No response, or your server link was revoked
link-unverified = Only members of both servers can verify this
link-remove = Remove { $host } from the profile
link-since = On your profile since { $date }
link-confirmations = Your confirmations
link-confirmations-text = You confirmed to these servers that you have an account here. After you withdraw a confirmation, they can no longer verify it.
link-another-server = Another server
link-confirmed-on = Confirmed on { $date }
link-withdraw = Withdraw confirmation for { $host }
link-withdraw-short = Withdraw
