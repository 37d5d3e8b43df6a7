## Devices

device-microphone = microphone
device-camera = camera
device-screen = screen
device-loudspeaker = loudspeaker
device-refused = Your browser blocks the { $device }. Allow it next to the address, then try again.
device-none = No { $device } was found on this device.
device-busy = Another program is using your { $device }.
device-insecure = Browsers allow the { $device } only at https:// addresses. Ask whoever runs this server for one.
device-failed = Your { $device } could not be opened: { $message }
device-vanished = Your { $device } was disconnected. Another one is used if there is one.
device-missing = The { $device } you chose is not connected. Another one is used.
device-usual = Browser default
device-number = Device { $number }
choose-microphone = Microphone
choose-camera = Camera
choose-speaker = Loudspeaker
no-speaker-choice = This browser uses the loudspeaker that the system has chosen.
level = Level
test-sound = Play a test sound
settings-voice = Voice and video
input = When you are heard
input-voice = While you speak
input-voice-hint = Sound below the threshold is not sent.
input-push = While you hold a key
input-push-hint = Works while this page has the focus and you are not typing.
threshold = Threshold
threshold-hint = At the lowest setting everything is sent.
push-key = Push-to-talk key: { $key }
press-a-key = Press a key
release = Milliseconds to keep sending after you release the key
noise = Background noise
noise-off = Keep it
noise-off-hint = Nothing is removed.
noise-usual = Suppress it
noise-usual-hint = With your browser’s filter.
noise-strong = Suppress it strongly
noise-strong-hint = Also removes keyboards and fans. Uses more of the processor.
echo = Cancel echo
gain = Even out my volume
music = Music
music-hint = Stereo at 128 kbit/s, nothing filtered. For instruments, not for rooms with loudspeakers.
mirror = Mirror my own video
blur = Blur my background
blur-hint = If your camera supports it. Uses more of the processor.
blur-never = This browser cannot blur your background. Your system’s camera settings may be able to.
blur-not-here = Your camera does not support blurring the background.

## Layout

in-focus = In focus
call-menu = More call options
other-camera = Switch camera
layout-grid = Equal sizes
layout-speaker = Large speaker
only-sound = Sound only
show-pictures = Show video
screen-options = Sharing options
screen-kind = What you share
screen-text = Text: sharp
screen-motion = Motion: smooth
screen-size = Size and frame rate
screen-size-automatic = Automatic: the screen’s own size
screen-size-option = { $height }p, { $fps } frames/s, up to { $mbps } Mbit/s
screen-size-hint = Others get less where their connection or yours carries less.
pop-out = Open in its own window
pin-tile = Pin { $name }
unpin-tile = Unpin { $name }
full-screen-of = { $name } in full screen
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
quality-automatic-hint = Smaller video, fewer frames or none while the connection is slow, so that you hear everybody.
quality-high = Full
quality-high-hint = Every frame, even if the sound suffers.
quality-low = Half
quality-low-hint = Every second frame.
quality-saver = Saver
quality-saver-hint = A quarter of the frames.
less-data = Use less data
less-data-hint = For metered connections: small video with fewer frames, in both directions. Voices and the text on shared screens stay as they are.
round-trip = Round trip
loss = Loss
rate = Rate
path = Path
path-udp = UDP, direct
path-tcp = TCP
path-relay = through a relay
path-unknown = not known
pictures-of-others = Incoming video
layers-wish = as requested
layers-line = reduced for your connection
layers-paused = some are paused
line-to-you = Connection to you
line-carries = { $reason ->
    [use] { NUMBER($kbps) } kbit/s, more was not tried
    [loss] { NUMBER($kbps) } kbit/s, packets are lost
   *[other] { NUMBER($kbps) } kbit/s
}
picture-now = Now
picture-paused = paused
picture-size = { $layer ->
    [0] small
    [1] medium
   *[other] full size
}
picture-reason = { $reason ->
    [line] your connection cannot carry more
    [hidden] you do not see it
   *[source] the sender sends no more
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
source-screen_audio = sound of the screen
source-unknown = unknown
ms = { NUMBER($ms) } ms
rate-kbps = { NUMBER($kbps) } kbit/s
fps = { NUMBER($fps) } frames/s
lost = { $share } lost
jitter = jitter { NUMBER($ms) } ms
concealed = { $share } concealed
at-most = at most { $value }
copy-report = Copy a report

## Hands, reactions and screens

call-text = Call chat
raise-hand = Raise hand
audience = Audience { $count }
invite-to-speak = Invite to speak
to-audience = Move to the audience
stage-empty = Nobody speaks yet.
lower-hand = Lower hand
lower-hand-of = Lower the hand of { $name }
hand-lowered = A moderator has lowered your hand. You can raise it again.
may-speak = You may speak now. Unmute when you are ready.
raised-hands = Raised hands
hand-raised = hand raised
shortcut-hand = Raise or lower your hand
watch = Watch
watch-no-more = Stop watching { $name }
withheld = { $reason ->
    [codec] This browser cannot show this video.
   *[no_line] There are too many videos in this call. It appears when another one ends.
}
paused-slow = Paused: your connection is slow
withheld-sound = { $reason ->
    [codec] This browser cannot play their voice.
   *[no_line] There are too many voices in this call. You hear them when another one ends.
}
stop-screen-of = Stop the screen of { $name }
stop-screen = Stop their screen
screen-stopped = A moderator stopped your screen. To share it again, leave the call and join it again.
zoom-label = { $name }: plus and minus zoom, the arrow keys move, 0 shows all
zoom-reset = { $percent } % · show all

## Why a call does not connect

trouble-offline = This device is offline. The call continues as soon as it is online.
trouble-server = The server does not answer. Check your network. The call continues as soon as the server answers.
trouble-voice = The server cannot reach its media service, so calls do not work now. Tell whoever runs it. Your call continues by itself.
trouble-signalling = The server answers, but the connection for calls does not open. A proxy or a browser extension may block WebSockets.
trouble-encryption = The media service answers, but something on the way changes the data. Try another network, or turn off your VPN.
trouble-lost = The connection of the call is lost. Trying again until it works…
trouble-path = { $ways ->
    [udp] This network blocks UDP to port { $port } of the server.
   *[both] This network blocks UDP and TCP to port { $port } of the server.
}
trouble-relay = { $relay ->
    [refused] The relay refuses the server’s password. Tell whoever runs the server.
    [silent] The relay cannot be reached either.
   *[useless] The relay answers but does not help. Tell whoever runs the server.
}
trouble-elsewhere = Try another network, such as your phone’s, or a VPN.

## What this browser cannot do

screen-never = This browser cannot share screens. Browsers on computers can.
screen-insecure = Browsers share screens only at https:// addresses. Ask whoever runs this server for one.
screen-silent = This screen is shared without its sound, because everybody would hear themselves. Share a tab to share its sound.
pop-out-never = This browser cannot keep a window on top of others. Chrome and Edge on computers can.
pop-out-nothing = There is no video to show in its own window.

## Calls in encrypted channels

channel-encrypted = encrypted
call-encrypted = This call is encrypted
call-encrypted-text = Only the devices in this call can hear and see it. The server passes it on without a key. It does see who is here, and who speaks. Messages next to the call are not encrypted.
call-encrypted-who = { $count ->
    [one] One device has the keys, of { $names }.
   *[other] { $count } devices have the keys, of { $names }.
  }
call-encrypted-alone = Nobody else is here yet, so there are no keys.
call-encrypted-number = Compare this number in the call. If everybody reads out the same one, and there are { $count } of you, nobody else can listen in. It changes whenever somebody comes or goes.
call-encrypted-uninvited = A device of { $names } has the keys of this call and is not shown in it. Somebody may be listening in.
call-encrypted-way = Calls here are encrypted: only the people in them can hear and see them.
call-encrypted-no-more = This channel is no longer encrypted, so you have left its call.
