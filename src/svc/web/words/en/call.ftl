## Devices

device-microphone = microphone
device-camera = camera
device-screen = screen
device-loudspeaker = speaker
device-refused = Your browser blocks access to your { $device }. Allow it in the address bar, then try again.
device-none = No { $device } found on this device.
device-busy = Another app is using your { $device }.
device-insecure = Browsers allow access to the { $device } only at https:// addresses. Ask the server operator for one.
device-failed = Couldn’t open your { $device }: { $message }
device-vanished = Your { $device } was disconnected. If there is another one, it is used now.
device-missing = The { $device } you chose isn’t connected. Another one is used.
device-usual = Browser default
device-number = Device { $number }
choose-microphone = Microphone
choose-camera = Camera
choose-speaker = Speaker
no-speaker-choice = This browser uses the speaker chosen in the system settings.
level = Input level
test-sound = Play test sound
settings-voice = Voice and video
input = Input mode
input-voice = Voice activity
input-voice-hint = Sends your voice when it is louder than the threshold.
input-push = Push to talk
input-push-hint = Works while this page is focused and you aren’t typing.
threshold = Threshold
threshold-hint = At the lowest setting, everything is sent.
push-key = Push-to-talk key: { $key }
press-a-key = Press a key
release = Release delay in milliseconds
noise = Noise suppression
noise-off = Off
noise-off-hint = Sends all background noise.
noise-usual = Standard
noise-usual-hint = Uses your browser’s filter.
noise-strong = Strong
noise-strong-hint = Also removes keyboards and fans. Uses more CPU.
echo = Echo cancellation
gain = Automatic gain control
music = Music mode
music-hint = Stereo at 128 kbit/s without filters. For instruments. Use headphones.
mirror = Mirror my video
blur = Blur my background
blur-hint = If your camera supports it. Uses more CPU.
blur-never = This browser can’t blur your background. Your system’s camera settings may be able to.
blur-not-here = Your camera doesn’t support background blur.

## Layout

in-focus = Focused
call-menu = More call options
other-camera = Switch camera
layout-grid = Grid
layout-speaker = Active speaker
only-sound = Audio only
show-pictures = Show video
screen-options = Sharing options
screen-kind = Optimise for
screen-text = Text: sharp
screen-motion = Motion: smooth
screen-size = Resolution and frame rate
screen-size-automatic = Automatic: the screen’s own resolution
screen-size-option = { $height }p, { $fps } fps, up to { $mbps } Mbit/s
screen-size-hint = The quality drops when your connection or the viewer’s is slow.
pop-out = Open in a separate window
pin-tile = Pin { $name }
unpin-tile = Unpin { $name }
full-screen-of = Show { $name } in full screen
person-options = Volume and quality of { $name }
volume = Volume
screen-volume = Volume of their screen
mute-for-me = Mute for me
muted-for-me = muted for you

## Quality

quality = Call quality
quality-of-picture = Their video
quality-of-pictures = Incoming video
quality-usual = Use my settings
quality-automatic = Automatic
quality-automatic-hint = Lowers or pauses video on a slow connection, so that you can still hear everyone.
quality-high = Full
quality-high-hint = Every frame, even if the audio suffers.
quality-low = Half
quality-low-hint = Every second frame.
quality-saver = Data saver
quality-saver-hint = A quarter of the frames.
less-data = Use less data
less-data-hint = For metered connections: sends and receives small video with fewer frames. Voices and shared text aren’t affected.
round-trip = Round trip
loss = Packet loss
rate = Bitrate
path = Route
path-udp = UDP, direct
path-tcp = TCP
path-relay = Through a relay
path-unknown = Unknown
pictures-of-others = Incoming video
layers-wish = as requested
layers-line = reduced for your connection
layers-paused = some are paused
downlink = Download bandwidth
downlink-rate = { $reason ->
    [use] at least { NUMBER($kbps) } kbit/s
    [loss] { NUMBER($kbps) } kbit/s, with packet loss
   *[other] { NUMBER($kbps) } kbit/s
}
picture-now = Receiving
picture-paused = paused
picture-size = { $layer ->
    [0] small
    [1] medium
   *[other] full size
}
picture-reason = { $reason ->
    [line] limited by your connection
    [hidden] not visible on your screen
   *[source] limited by the sender
}
layers-asked = { $layer ->
    [0] every fourth frame
    [1] every second frame
   *[other] every frame
}
sent-by-me = Sent by me
received = Received
source-mic = microphone
source-camera = camera
source-screen = screen
source-screen_audio = screen audio
source-unknown = unknown
ms = { NUMBER($ms) } ms
rate-kbps = { NUMBER($kbps) } kbit/s
fps = { NUMBER($fps) } fps
lost = { $share } lost
jitter = jitter { NUMBER($ms) } ms
concealed = { $share } concealed
at-most = at most { $value }
copy-report = Copy report

## Hands, reactions and screens

call-text = Call chat
raise-hand = Raise hand
audience = Audience: { $count }
invite-to-speak = Invite to speak
to-audience = Move to audience
stage-empty = Nobody is speaking yet.
lower-hand = Lower hand
lower-hand-of = Lower { $name }’s hand
hand-lowered = A moderator lowered your hand. You can raise it again.
may-speak = You can speak now. Unmute when you’re ready.
raised-hands = Raised hands
hand-raised = hand raised
shortcut-hand = Raise or lower your hand
watch = Watch
stop-watching = Stop watching { $name }
withheld = { $reason ->
    [codec] This browser can’t play this video.
   *[no_line] This call has too many videos. This one will appear when another ends.
}
paused-slow = Paused: your connection is slow
withheld-sound = { $reason ->
    [codec] This browser can’t play their audio.
   *[no_line] This call has too many voices. You’ll hear this one when another ends.
}
stop-screen-of = Stop { $name }’s screen
stop-screen = Stop their screen
screen-stopped = A moderator stopped your screen. To share it again, leave and rejoin the call.
zoom-label = { $name }: press plus or minus to zoom, arrow keys to move, 0 to fit
zoom-reset = { $percent }% · Fit

## Why a call does not connect

trouble-offline = You’re offline. The call will continue when you’re back online.
trouble-server = The server isn’t responding. Check your network. The call will continue when the server responds.
trouble-voice = The server can’t reach its media service, so calls don’t work right now. Tell the server operator. Your call will continue automatically.
trouble-signalling = The server responds, but the connection for calls can’t be opened. A proxy or a browser extension may be blocking WebSockets.
trouble-encryption = The media service responds, but something on the network changes the data. Try another network, or turn off your VPN.
trouble-lost = Connection to the call lost. Reconnecting…
trouble-path = { $ways ->
    [udp] This network blocks UDP port { $port } of the server.
   *[both] This network blocks UDP and TCP port { $port } of the server.
}
trouble-relay = { $relay ->
    [refused] The relay rejects the server’s password. Tell the server operator.
    [silent] The relay can’t be reached either.
   *[useless] The relay responds, but can’t connect you. Tell the server operator.
}
trouble-elsewhere = Try another network, such as mobile data, or a VPN.

## Features this browser lacks

call-never = This browser can’t join calls. Use a recent Chrome, Edge, Firefox or Safari. If your phone is in Lockdown Mode, exclude this page from it.
screen-never = This browser can’t share screens. Desktop browsers can.
screen-insecure = Browsers share screens only at https:// addresses. Ask the server operator for one.
screen-silent = Your screen is shared without sound, because everyone would hear an echo of themselves. Share a tab to include its sound.
pop-out-never = This browser can’t keep a window on top of others. Chrome and Edge on desktop can.
pop-out-nothing = There is no video to show in a separate window.

## Calls in encrypted channels

channel-encrypted = encrypted
call-encrypted = This call is end-to-end encrypted
call-encrypted-text = Only the devices in this call can hear and see it. The server forwards it without having the keys, but it knows who is in the call and who is speaking. Chat messages in the call aren’t encrypted.
call-encrypted-who = { $count ->
    [one] 1 device of { $names } has the keys.
   *[other] { $count } devices of { $names } have the keys.
  }
call-encrypted-alone = Nobody else is here yet, so there are no keys.
call-encrypted-number = Compare this number in the call. If all { $count } of you read out the same number, nobody else can listen in. It changes when someone joins or leaves.
call-encrypted-uninvited = A device of { $names } has the keys to this call but isn’t shown in it. Someone may be listening in.
call-encrypted-hint = Calls in this channel are end-to-end encrypted.
call-encrypted-off = This channel is no longer encrypted, so you left its call.
