# Notifications: levels, mutes, sounds, notices and Web Push.

notifications = Notifications
notifications-muted = Notifications: muted
channel-muted = muted
mark-read = Mark as read
mark-unread = Mark as unread
notify-about = Notify me about
level-default = Default ({ $level })
level-all = All messages
level-mentions = Mentions
level-nothing = Nothing
mute-for = Mute
mute-15-minutes = For 15 minutes
mute-1-hour = For 1 hour
mute-8-hours = For 8 hours
mute-24-hours = For 24 hours
mute-until-changed = Until I turn it back on
muted-until = Muted until { $time }
muted-for-good = Muted
unmute-channel = Unmute

## Settings

settings-notifications = Notifications
level-of-all = Default for all channels
mute-all = Mute all notifications
this-device = On this device
notices = Show notifications while this page is open
notices-hint = Only while the page is in the background.
notices-refused = Your browser blocks notifications from this page. Allow them in the address bar, then come back here.
push = Notify me on this device while the page is closed
push-off = Notifications are delivered encrypted: your browser’s push service can’t read them.
push-on = On. This device notifies you when no page is visible.
push-busy = One moment…
push-insecure = Browsers allow this only at https:// addresses. Ask the server operator for one.
push-install = On iPhone and iPad, add this page to the home screen first. Then turn this on in the app.
push-unsupported = This browser doesn’t support this. Firefox, Chrome, Edge and Safari do.
push-refused = Your browser blocks notifications from this page. Allow them in the address bar, then come back here.
push-failed = Can’t reach your browser’s push service, or it is turned off in the browser’s settings. Try again later.
sounds = Sounds
sound-message = New message
sound-mention = Mention or reply
sound-join = Someone joins your call
sound-leave = Someone leaves your call
sound-mute = Mute or unmute yourself
listen = Play
listen-to = Play: { $sound }
