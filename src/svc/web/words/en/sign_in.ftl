## Sign-in

join-title = Join the conversation
join-server = Join { $server }
back-at = Welcome back to { $server }
people-here = { $count ->
    [0] No members yet
    [one] 1 member
   *[other] { $count } members
}
online-now = { $count } online
first-member = You’re the first one here. This link makes you the owner.
access-lost = You no longer have access to this server. { $reason }
insecure = Browsers allow signing in and using the microphone and camera only at https:// addresses, or on the server itself at http://127.0.0.1. Ask the server operator for the https:// address.
no-browser-storage = This browser doesn’t store data for this page, perhaps because the window is private. You lose your membership when you close it.
joins-closed = This server isn’t accepting new members right now. Try again later.
sign-in-impossible = Nobody can sign in here: the server requires an account, but no account provider is set up. Tell the server operator.
your-name = Your name
name-missing = Enter a name.
name-wanted = Welcome! Choose the name that others will see.
name-given = “{ $wanted }” is already taken here, so your name is “{ $given }”. You can change it in settings.
invite-code = Invite code
invite-hint = You need an invite to join. Paste the code or the full link.
approval-message = Message to the moderators (optional)
approval-hint = A moderator has to approve you. Tell them who you are.
server-rules = Server rules
accept-rules = I accept the rules
join = Join
joining = Joining…
sign-in = Sign in
sign-in-as = Sign in as { $name }
or = or
continue-with = Continue with { $provider }
accounts-only = This server only accepts accounts from { $provider }.
signed-in-at = You have signed in with { $provider }.
by-account = With your { $provider } account.
other-account = Use another account
sign-in-method-refused = This server no longer accepts the sign-in method you used before.
provider-cancelled = You didn’t finish signing in with { $provider }.
provider-mismatch = This sign-in wasn’t started in this tab. Try again.
provider-refused = { $provider } rejected the sign-in: { $reason }
am-new = I’m new here
have-code = I’m already a member on another device
code = Code
code-text = Sign in on this device with your existing membership.
code-hint = On your other device, go to Settings > Devices to get a code. If you’ve lost all your devices, use your recovery code, or ask the server owner for one. A recovery code signs out your other devices.
code-missing = Enter the code.
add-device = Add device
have-certificate = Use a certificate
certificate = Certificate
certificate-text = This server accepts certificates from { $issuers }.
certificate-unreadable = This isn’t a certificate. A certificate is one long line with two dots in it.
certificate-other-key = This certificate is for another browser’s key. Ask for one for this browser’s key.
public-key = This browser’s public key
public-key-text = The issuer of your certificate needs it. It isn’t secret.
copy = Copy
load-file = Load from a file
waiting-title = Waiting for approval
waiting-text = A moderator has to approve you. Keep this page open: it continues automatically.
back-to-form = Back
approval-refused-because = Your request to join was declined: { $reason }
banned-because = You are banned from this server: { $reason }

## First steps

first-steps = Your server is ready
step-number = Step { $number } of { $count }
step-skip = Skip
step-done = Done:
step-name = Name your server
step-named = Your server is called { $name }
server-name-missing = Enter a name.
step-icon = Give your server an icon
step-icon-given = Your server has an icon
step-channel = Create a channel for a topic
step-channel-do = Create channel
step-invite = Invite someone with a link
step-invite-do = Create link
hide-first-steps = Hide these steps
newcomer-title = Welcome to { $server }
newcomer-channels = Channels to explore
offer-title = Next steps
offer-notifications-text = Get notified when someone mentions you or sends you a message.
offer-notifications = Turn on notifications
offer-code-text = A recovery code lets you sign in if you lose this device.
offer-code = Create recovery code
