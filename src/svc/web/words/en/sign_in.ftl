## Signing in

join-title = Join the conversation
join-server = Join { $server }
back-at = Welcome back to { $server }
people-here = { $count ->
    [0] Nobody is a member yet.
    [one] One member
   *[other] { $count } members
}
online-now = { $count } online
you-found = You are the first here. This link makes you the owner.
sent-away = You no longer have access to this server. { $reason }
insecure = Browsers allow signing in, the microphone and the camera only at https:// addresses, or on the server’s own computer at http://127.0.0.1. Ask whoever runs this server for its https:// address.
keeps-nothing = This browser keeps no data for this page, perhaps because the window is private. You are a member only until you close it.
joins-closed = This server accepts no new members at the moment. Try again later.
no-way-in = Nobody can sign in here: the server accepts only accounts, but no account provider is set up. Tell whoever runs it.
your-name = Your name
name-missing = Please enter a name.
name-wanted = You are new here. Choose the name that others will see.
name-given = “{ $wanted }” is taken here, so your name is “{ $given }”. You can change it in the settings.
invite-code = Invite code
invite-hint = You need an invite to join. Paste the code or the whole link.
approval-message = Message to the moderators (optional)
approval-hint = Somebody has to approve you first. Tell them who you are.
server-rules = The rules of this server
accept-rules = I accept the rules
join = Join
joining = Joining…
sign-in = Sign in
sign-in-as = Sign in as { $name }
or = or
continue-with = Continue with { $provider }
accounts-only = This server only accepts accounts from { $provider }.
signed-in-at = You have signed in with { $provider }.
by-account = With your account at { $provider }.
other-account = Use another account
way-not-taken = This server no longer accepts the way you signed in before.
provider-cancelled = You did not finish signing in at { $provider }.
provider-mismatch = This sign-in was not started in this tab. Try again.
provider-refused = { $provider } refused the sign-in: { $reason }
am-new = I am new here
have-code = I am already a member, on another device
code = Code
code-text = Sign in on this device as the member you already are.
code-hint = From your other device: Settings, Devices. If you have lost all your devices, use the recovery code you kept, or ask the owner of the server for one. It signs your other devices out.
code-missing = Please enter the code.
add-device = Add this device
have-certificate = Use a certificate
certificate = Certificate
certificate-text = This server accepts certificates from { $issuers }.
certificate-unreadable = This is not a certificate. A certificate is one long line with two dots in it.
certificate-other-key = This certificate is for another browser’s key. Ask for one for this browser’s key.
public-key = The public key of this browser
public-key-text = Whoever issues your certificate needs it. It is not a secret.
copy = Copy
load-file = Load from a file
waiting-title = Waiting for approval
waiting-text = Somebody has to let you in. Leave this page open: it continues by itself.
back-to-form = Back to the form
approval-refused-because = You were not let in: { $reason }
banned-because = You are banned from this server: { $reason }

## First steps

first-steps = Your server is ready. Four steps to begin:
step-done = Done:
step-name = Name your server
step-named = Your server is called { $name }.
server-name-missing = Please enter a name.
step-icon = Give your server an icon.
step-icon-given = Your server has an icon.
step-channel = Add a channel for a topic.
step-channel-do = Add a channel
step-invite = Invite somebody with a link.
step-invite-do = Make a link
hide-first-steps = Hide these steps
newcomer-title = Welcome to { $server }
newcomer-here = What is here
offer-title = Good to have later
offer-notifications-text = Hear of it when somebody mentions you or writes to you.
offer-notifications = Turn on notifications
offer-code-text = A recovery code brings you back if you lose this device.
offer-code = Make a recovery code
