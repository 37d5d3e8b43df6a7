# The words of the page. Keys are grouped as the views are; what is between braces is filled in.

close = Close
cancel = Cancel
save = Save
saved = Saved.
show = Show
edit = Edit
delete = Delete
dismiss = Dismiss
more = More
loading = Loading…
connecting = Connecting…
try-again = Try again
nothing-found = Nothing found.
today = Today
yesterday = Yesterday
somebody = Somebody
others = { $count ->
    [one] one other
   *[other] { $count } others
}
fault-title = Something went wrong in this page
fault-text = What you wrote is kept. Try again; if that does not help, load the page again.

## The channels

this-server = This server
channels = Channels
show-channels = Show the channels
text-channels = Text
voice-channels = Voice
voice-channel = voice channel
unread-count = { $count } unread
mention-count = { $count ->
    [one] 1 mention
   *[other] { $count } mentions
}
people-in = People in { $channel }
no-channels = There is no channel here that you may see.
offline-text = The server cannot be reached right now. It is tried again.
reconnecting = Reconnecting…
crowded = Too many of your pages are open, and this was the oldest. Load it again to go on here.
switcher-open = Go to a channel or a person (Ctrl+K)
switcher-title = Go to
switcher-field = Channel or person

## Messages

messages = Messages
beginning = This is the beginning of { $channel }.
empty-channel = Nobody has written in { $channel } yet. Say hello.
to-newest = To the newest
new-messages = New
message-of = Message of { $name }
message-to = Message to { $channel }
message-gone = This message is not there any more.
go-to-message = Go to the message
earlier-message = An earlier message
blocked-message = You have blocked this member.
bot = Bot
mark-webhook = webhook
mark-edited = edited
mark-pinned = pinned
file-count = { $count ->
    [one] A file
   *[other] { $count } files
}
typing = { $count ->
    [one] { $names } is typing…
   *[other] { $names } are typing…
}
many-typing = Several people are typing…
react = React
react-with = React with
react-with-sign = React with { $sign }
reactions = Reactions
reaction-count = { $count ->
    [one] 1 person
   *[other] { $count } people
}
reply = Reply
pin = Pin
unpin = Unpin
copy-text = Copy the text
copy-id = Copy the ID
copy-link = Copy a link to it
copied = Copied.
link-copied = The link is copied.
copy-failed = The browser does not let the page copy.
edit-message = Change the message
delete-message-title = Delete this message?
delete-message-text = It is gone for everybody.
delete-message = Delete the message
pins = Pinned messages
no-pins = Nothing is pinned here yet.
search = Search
search-field = Search messages
searching = Searching…
search-count = { $more ->
    [yes] The newest { $count } messages
   *[other] { $count ->
        [0] Nothing found.
        [one] One message
       *[other] { $count } messages
    }
}
search-more = Show older ones
jump-to-date = Jump to a date
date = Date
jump-hint = You go to the first message since the beginning of that day.
jump = Jump
date-missing = Please choose a date.

## Writing

send = Send
attach = Attach files
files = Files
read-only = You may read here, not write.
may-not-attach = You may not attach files here.
too-many-files = A message takes ten files.
files-on-their-way = The files are still on their way.
replying-to = Reply to { $name }
no-reply = Do not reply
ping = Notify
upload-sending = Sending
upload-waits = The connection was lost. It goes on by itself.
upload-checking = Checking
upload-done = Ready
upload-cut-off = The connection was lost.
remove-file = Remove { $name }
not-sent = Not sent. { $reason }
take-back = Change it
sent-when-back = It is sent when the connection is back.

## People

people = People
members = Members
members-count = { $count ->
    [one] One member
   *[other] { $count } members
}
find-member = Find a member
here-now = Here now
away = Away
profile = Profile
member-unknown = They are not a member here any more.
is-online = Here now
is-away = Away
in-timeout = In timeout: they can only read.
joined-on = Member since { $date }
roles = Roles
role-owner = Owner
role-admin = Administrators
role-moderator = Moderators
role-member = Members
role-guest = Guests
mention = Mention { $name }
block = Block { $name }
unblock = Unblock { $name }

## Calls

call-none = Not in a call
call-joining = Connecting…
call-connected = Connected
call-reconnecting = Reconnecting…
call-replaced = You joined from another tab or device.
call-removed = You were removed from the room.
call-controls = Call controls
your-call = Your call
people-in-call = { $count ->
    [one] 1 person
   *[other] { $count } people
}
people-in-room = People in the room
alone-in-call = Only you so far. Others see you in the list of channels, and can join.
are-here = { $count ->
    [one] { $names } is here.
   *[other] { $names } are here.
}
nobody-here = Nobody is here yet.
join-call = Join the call
join-options = Join with…
join-with = Join { $channel } with…
may-not-join = You may not join calls here.
with-mic = Microphone
with-camera = Camera
mute = Mute
unmute = Unmute
deafen = Deafen
undeafen = Undeafen
muted = muted
muted-by-moderator = muted by a moderator
deafened = deafened
deafened-by-moderator = deafened by a moderator
start-camera = Start camera
stop-camera = Stop camera
share-screen = Share screen
stop-sharing = Stop sharing
leave-call = Leave
name-you = { $name } (you)
your-screen = Your screen
screen-of = { $name }’s screen
sound-blocked = Your browser holds the sound back. Press here to listen.

## Settings

settings = Settings
settings-pages = Pages of the settings
settings-profile = Profile
settings-look = Look and language
settings-identity = Signing out
your-status = Status
choose-picture = Choose a picture
remove-picture = Remove the picture
picture-checked = The picture is shown when the server has checked it.
theme = Theme
theme-system = As the system
theme-light = Light
theme-dark = Dark
density = Messages
density-cosy = Roomy
density-compact = Compact
text-size = Size of text
language = Language
language-browser = As the browser
sign-out = Sign out
sign-out-title = Sign out?
be-somebody-else = Use another name
somebody-else-title = Give up who you are here?
somebody-else-text = The key of this browser is destroyed. Without another device that you have linked, nobody can sign in as you any more, not even you. Your messages stay.
shortcuts = Keyboard shortcuts
shortcut-send = Send
shortcut-new-line = A new line
shortcut-edit-last = Change your last message
shortcut-read = Close what is beside, or mark the channel read and go to the newest message
shortcut-switcher = Go to a channel or a person
shortcut-search = Search
shortcut-sheet = These shortcuts
shortcut-previous = The channel above
shortcut-next = The channel below
shortcut-next-unread = The next channel with something unread
shortcut-all-read = Mark everything read
shortcut-mute = Mute or unmute
shortcut-deafen = Deafen or undeafen
shortcut-camera = Start or stop the camera

## What the server refuses, where its own words would not do

error-unreachable = The server cannot be reached. Try again in a moment.
error-slow-mode = This channel is in slow mode. Wait { $seconds ->
    [one] a second
   *[other] { $seconds } seconds
}.
error-rate-limited = That was too fast. Wait a moment.
slow-mode-here = Slow mode: after a message you wait { $time }.
