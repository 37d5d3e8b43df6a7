# Notifications: levels, mutes, sounds, notices and Web Push.

notifications = Notifications
notifications-muted = Notifications: muted
channel-muted = muted
mark-read = Mark as read
mark-unread = Mark as unread
tell-me-of = Notify me about
level-default = Default ({ $level })
level-all = All messages
level-mentions = Mentions
level-nothing = Nothing
mute-for = Mute
mute-15-minutes = For 15 minutes
mute-1-hour = For 1 hour
mute-8-hours = For 8 hours
mute-24-hours = For 24 hours
mute-until-changed = Until I unmute it
muted-until = Muted until { $time }
muted-for-good = Muted
unmute-channel = Unmute

## Settings

settings-notifications = Notifications
level-of-all = Notify me about (default for all channels)
mute-all = Mute everything
this-device = On this device
notices = Show notifications while this page is open
notices-hint = Only while you cannot see this page.
notices-refused = Your browser blocks notifications from this page. Allow them next to the address, then come back here.
push = Notify me on this device while the page is closed
push-off = Your browser’s maker delivers the notifications encrypted, and cannot read them.
push-on = On. This device notifies you while you cannot see any of your pages.
push-busy = One moment…
push-insecure = Browsers allow this only at https:// addresses. Ask whoever runs this server for its https:// address.
push-install = On iPhones and iPads, add this page to the home screen first, then switch this on there.
push-unsupported = This browser does not support this. Firefox, Chrome, Edge and Safari do.
push-refused = Your browser blocks notifications from this page. Allow them next to the address, then come back here.
push-failed = Your browser’s push service could not be reached, or is switched off in its settings. Try again later.
sounds = Sounds
sound-message = A message
sound-mention = A mention or a reply to you
sound-join = Somebody joins your call
sound-leave = Somebody leaves your call
sound-mute = You mute or unmute yourself
listen = Listen
listen-to = Listen: { $sound }
