# The texts in the page, grouped by view. Placeholders are in braces.

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
fault-text = What you wrote is kept. Try again. If that does not help, reload the page.

## Channels

this-server = This server
server-settings = Server settings
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
no-channels = There are no channels that you can see.
offline-text = The server cannot be reached. Trying again…
reconnecting = Reconnecting…
crowded = You have too many pages open here, so this one was disconnected. Reload it to continue.
switcher-open = Find…
switcher-keys = Ctrl K
switcher-title = Go to
switcher-field = Channel or person

## Messages

messages = Messages
beginning = This is the beginning of { $channel }.
empty-channel = Nobody has written in { $channel } yet. Say hello.
to-newest = Jump to latest
new-messages = New
message-of = Message from { $name }
about = About { $name }
channel-more = More about this channel
message-to = Message to { $channel }
message-gone = This message no longer exists.
channel-not-found = This channel does not exist, or you may not see it.
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
no-reactions = Nobody has reacted yet.
reaction-count = { $count ->
    [one] 1 person
   *[other] { $count } people
}
reply = Reply
forward = Forward
pin = Pin
unpin = Unpin
copy-text = Copy text
select-text = Select text
copy-id = Copy ID
copy-link = Copy link
copied = Copied.
link-copied = The link is copied.
copy-failed = Your browser did not let the page copy.
edit-message = Edit the message
delete-message-title = Delete this message?
delete-message-text = It is deleted for everybody.
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
search-more = Show older messages
search-filter-values = Values for this filter
search-kind-unknown = “{ $value }” does not work with “{ $filter }:”. You can use { $kinds }.
search-day-unknown = “{ $value }” is not a date. Write it like 2026-01-31.
search-day-excluded = “{ $filter }:” cannot be excluded. Use “{ $other }:” instead.
# One word each, without spaces: the words before and after the colon in the search field.
search-from = from
search-in = in
search-has = has
search-before = before
search-after = after
search-has-link = link
search-has-image = image
search-has-video = video
search-has-audio = audio
search-has-file = file
search-has-card = card
search-has-pin = pin
search-has-reaction = reaction
jump-to-date = Jump to a date
date = Date
jump-hint = Goes to the first message on or after that day.
jump = Jump
date-missing = Choose a date.

## Writing

send = Send
attach = Attach files
files = Files
read-only = You can read here, but not write.
in-timeout-until = You are in timeout until { $time }.
may-not-attach = You cannot attach files here.
too-many-files = A message can have up to ten files.
files-on-their-way = Your message is sent once the files are uploaded.
replying-to = Reply to { $name }
no-reply = Cancel the reply
ping = Notify
upload-sending = Uploading
upload-waits = The connection was lost. The upload continues by itself.
upload-checking = Checking
upload-done = Ready
upload-cut-off = The connection was lost.
remove-file = Remove { $name }
not-sent = Not sent. { $reason }
take-back = Edit it
sent-when-back = It is sent as soon as the connection is back.

## People

people = People
members = Members
members-count = Members · { $count }
find-member = Find a member
here-now = Online
away = Offline
profile = Profile
member-unknown = This person is no longer a member.
is-online = Online
is-away = Offline
in-timeout = In timeout: can only read.
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
call-ringing = Ringing…
call-reconnecting = Reconnecting…
call-replaced = You joined from another tab or device.
call-removed = You were removed from the call.
call-controls = Call controls
your-call = Your call
people-in-call = { $count ->
    [one] 1 person
   *[other] { $count } people
}
people-in-room = People in the room
alone-in-call = Only you so far. Others see you in the channel list and can join.
are-here = { $count ->
    [one] { $names } is here.
   *[other] { $names } are here.
}
nobody-here = Nobody is here yet.
join-call = Join the call
join-options = Join with…
join-with = Join { $channel } with…
may-not-join = You cannot join calls here.
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
sound-blocked = Your browser has blocked the sound. Press here to listen.

## Settings

settings = Settings
settings-all = All settings
settings-pages = Settings pages
settings-find = Find a setting
settings-group-own = Your account
settings-group-community = Community
settings-group-moderation = Moderation
settings-group-system = System
settings-profile = Profile
settings-look = Appearance and language
settings-identity = Signing out
your-status = Status
choose-picture = Choose a picture
remove-picture = Remove the picture
picture-checked = The picture appears after the server has checked it.
theme = Theme
theme-system = Match system
theme-light = Light
theme-dark = Dark
motion = Motion
motion-system = Match system
motion-reduced = Reduced
density = Messages
density-cosy = Roomy
density-compact = Compact
text-size = Text size
language = Language
language-browser = Browser default
sign-out = Sign out
sign-out-title = Sign out?
be-somebody-else = Use another name
somebody-else-title = Give up your identity here?
somebody-else-text = The key of this browser is destroyed. Unless you have linked another device, nobody can sign in as you again, not even you. Your messages stay.
shortcuts = Keyboard shortcuts
shortcut-send = Send
shortcut-new-line = New line
shortcut-edit-last = Edit your last message
shortcut-read = Close the side panel, or mark the channel as read and go to the newest message
shortcut-switcher = Go to a channel or a person
shortcut-search = Search
shortcut-sheet = Show these shortcuts
shortcut-previous = Previous channel
shortcut-next = Next channel
shortcut-next-unread = Next unread channel
shortcut-previous-unread = Previous unread channel
shortcut-settings = Open the settings
shortcut-page = Earlier messages, while you write
shortcut-all-read = Mark everything as read
shortcut-mute = Mute or unmute
shortcut-deafen = Deafen or undeafen
shortcut-camera = Start or stop the camera

slow-mode-here = Slow mode: wait { $time } between messages.
