## The way in

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
sent-away = This server does not let you in any more. { $reason }
insecure = Browsers let people sign in only at https:// addresses, or on this very computer at http://127.0.0.1. Ask whoever runs this server for its https:// address.
keeps-nothing = This browser keeps nothing for this page. Perhaps the window is private. You are a member only until you close it.
joins-closed = This server accepts nobody at the moment. Whoever runs it has closed it. Try again later.
no-way-in = Nobody can sign in here: the server takes accounts only, and no provider of accounts is set up. Tell whoever runs it.
your-name = Your name
name-missing = Please enter a name.
name-wanted = You are new here. Choose the name that others will see.
invite-code = Invite code
invite-hint = You need an invite to join. Paste the code or the whole link.
approval-message = Message to the moderators (optional)
approval-hint = Somebody has to approve that you join. Tell them who you are.
server-rules = The rules of this server
accept-rules = I accept the rules
join = Join
joining = Joining…
sign-in = Sign in
sign-in-as = Sign in as { $name }
or = or
continue-with = Continue with { $provider }
accounts-only = This server only accepts accounts from { $provider }.
signed-in-at = You have signed in at { $provider }.
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
code-hint = From your other device: Settings, Devices. Or from the owner of the server, if you have lost all your devices; that signs the others out.
code-missing = Please enter the code.
add-device = Add this device
have-certificate = Use a certificate
certificate = Certificate
certificate-text = This server accepts certificates from { $issuers }.
certificate-unreadable = This is not a certificate. It is one long line with two dots in it.
certificate-other-key = This certificate is for the key of another browser. Ask for one for the key of this browser.
public-key = The public key of this browser
public-key-text = Whoever issues your certificate needs it. It is not secret.
copy = Copy
load-file = Load from a file
waiting-title = Waiting for approval
waiting-text = Somebody has to let you in. Leave this page open: it goes on by itself.
back-to-form = Back to the form
error-sign-in-again = Your sign-in has ended. Sign in again.
error-signed-out = You have signed out.
error-invite-invalid = This invite is not valid, or not any more. Ask for a new one.
error-rules-not-accepted = Please accept the rules first.
error-invite-required = You need an invite to join this server.
error-code-invalid = This code is not valid, was used already, or has expired. Ask for a new one.
error-identity-taken = This browser is already another member here. Use that one, or give it up first.
error-issuer-unavailable = The provider of the accounts cannot be reached right now. Try again in a moment.
error-approval-refused = You were not let in.
approval-refused-because = You were not let in: { $reason }
error-banned = You are banned from this server.
banned-because = You are banned from this server: { $reason }

## First steps

first-steps = Your server is ready. Three steps to begin:
step-done = Done:
step-name = Name your server
step-named = Your server is called { $name }.
server-name-missing = Please enter a name.
step-channel = Add a channel for a topic of yours.
step-channel-do = Add a channel
step-invite = Invite somebody by a link.
step-invite-do = Make a link
hide-first-steps = Hide these steps
