# The texts in the page, grouped by view. Placeholders are in braces.

close = Close
cancel = Cancel
save = Save
saved = Saved.
unsaved-changes = Unsaved changes
discard = Discard
show = Show
edit = Edit
delete = Delete
dismiss = Dismiss
more = More
loading = Loading…
connecting = Connecting…
try-again = Try again
nothing-found = No results.
today = Today
yesterday = Yesterday
somebody = Someone
others = { $count ->
    [one] 1 other
   *[other] { $count } others
}
fault-title = Something went wrong on this page
fault-text = Your text is saved. Try again. If the problem stays, reload the page.

## Channels

this-server = This server
server-settings = Server settings
channels = Channels
show-channels = Show channels
text-channels = Text
voice-channels = Voice
voice-channel = voice channel
unread-count = { $count } unread
mention-count = { $count ->
    [one] 1 mention
   *[other] { $count } mentions
}
people-in = People in { $channel }
no-channels = There are no channels you can see.
offline-text = Can’t reach the server. Reconnecting…
reconnecting = Reconnecting…
crowded = You have too many pages of this server open, so this one was disconnected. Reload it to continue.
switcher-open = Jump to…
switcher-keys = Ctrl K
switcher-title = Jump to
switcher-field = Channel or person

## Messages

messages = Messages
beginning = This is the beginning of { $channel }.
empty-channel = No messages in { $channel } yet. Say hello.
to-newest = Jump to latest
new-messages = New
message-of = Message from { $name }
about = About { $name }
channel-more = More channel options
message-to = Message { $channel }
message-gone = This message no longer exists.
channel-not-found = This channel doesn’t exist, or you don’t have access to it.
go-to-message = Jump to message
earlier-message = An earlier message
blocked-message = Message from a blocked member
bot = Bot
mark-webhook = webhook
mark-edited = edited
mark-pinned = pinned
file-count = { $count ->
    [one] 1 file
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
no-reactions = No reactions yet.
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
link-copied = Link copied.
copy-failed = Your browser doesn’t let this page copy.
edit-message = Edit message
delete-message-title = Delete this message?
delete-message-text = It will be deleted for everyone.
delete-message = Delete message
pins = Pinned messages
no-pins = No pinned messages yet.
search = Search
search-field = Search messages
searching = Searching…
search-count = { $more ->
    [yes] Newest { $count } messages
   *[other] { $count ->
        [one] 1 message
       *[other] { $count } messages
    }
}
search-nothing = No messages found. Try other words, or fewer of them.
search-more = Show older messages
search-filter-values = Values for this filter
search-kind-unknown = “{ $value }” doesn’t work with “{ $filter }:”. You can use { $kinds }.
search-day-unknown = “{ $value }” isn’t a date. Write it like 2026-01-31.
search-day-excluded = “{ $filter }:” can’t be excluded. Use “{ $other }:” instead.
# Single words without spaces: the names and values of the filters in the search field.
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
jump-to-date = Jump to date
date = Date
jump-hint = Jumps to the first message on or after this day.
jump = Jump
date-missing = Choose a date.

## Composer

send = Send
attach = Attach files
files = Files
read-only = You can’t send messages here.
in-timeout-until = You’re in timeout until { $time }.
may-not-attach = You can’t attach files here.
too-many-files = A message can have up to 10 files.
files-on-their-way = Your message will be sent when the files are uploaded.
replying-to = Replying to { $name }
cancel-reply = Cancel reply
ping = Notify
upload-sending = Uploading
upload-waits = Connection lost. The upload will continue automatically.
upload-checking = Processing
upload-done = Ready
upload-cut-off = Connection lost.
remove-file = Remove { $name }
not-sent = Not sent. { $reason }
edit-unsent = Edit
sent-when-back = It will be sent when you’re back online.

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
people-in-room = People in the call
alone-in-call = You’re the only one here. Others can see you in the channel list and join.
are-here = { $count ->
    [one] { $names } is here.
   *[other] { $names } are here.
}
nobody-here = Nobody is here yet.
join-call = Join call
join-options = Join with…
join-with = Join { $channel } with…
may-not-join = You can’t join calls here.
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
sound-blocked = Your browser blocked the audio. Click or tap to play it.

## Settings

settings = Settings
settings-all = All settings
settings-pages = Settings pages
settings-find = Search settings
settings-group-own = Your account
settings-group-community = Community
settings-group-moderation = Moderation
settings-group-system = System
settings-profile = Profile
settings-look = Appearance and language
settings-identity = Session
your-status = Status
choose-picture = Choose picture
remove-picture = Remove picture
picture-checked = Your picture will appear when the server has processed it.
theme = Theme
theme-system = Match system
theme-light = Light
theme-dark = Dark
motion = Motion
motion-system = Match system
motion-reduced = Reduced
density = Message density
density-cosy = Comfortable
density-compact = Compact
text-size = Text size
language = Language
language-browser = Browser default
sign-out = Sign out
sign-out-title = Sign out?
change-identity = Use another identity
give-up-identity-title = Give up your identity on this server?
give-up-identity-text = This deletes this browser’s key. Unless you have linked another device, nobody can sign in as you again, including you. Your messages stay.
shortcuts = Keyboard shortcuts
shortcut-send = Send
shortcut-new-line = New line
shortcut-edit-last = Edit your last message
shortcut-read = Close the side panel, or mark the channel as read and jump to the latest message
shortcut-switcher = Jump to a channel or person
shortcut-search = Search
shortcut-sheet = Show keyboard shortcuts
shortcut-previous = Previous channel
shortcut-next = Next channel
shortcut-next-unread = Next unread channel
shortcut-previous-unread = Previous unread channel
shortcut-settings = Open settings
shortcut-page = Scroll to earlier messages while typing
shortcut-all-read = Mark all as read
shortcut-mute = Mute or unmute
shortcut-deafen = Deafen or undeafen
shortcut-camera = Start or stop camera

slow-mode-here = Slow mode: wait { $time } between messages.
