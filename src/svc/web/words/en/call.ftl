## Devices

device-microphone = microphone
device-camera = camera
device-screen = screen
device-refused = The browser may not use your { $device }. Allow it beside the address, then try again.
device-none = No { $device } was found on this device.
device-busy = Another program is using your { $device }.
device-insecure = Browsers open the { $device } on HTTPS addresses only. Ask your host for one.
device-failed = Your { $device } could not be opened: { $message }
device-vanished = Your { $device } went away. Another is used if there is one.
device-usual = As the browser
device-number = Device { $number }
choose-microphone = Microphone
choose-camera = Camera
choose-speaker = Loudspeaker
no-speaker-choice = This browser plays on the loudspeaker that the system has chosen.
level = Level
test-sound = Play a test sound
settings-voice = Voice and video
input = When you are heard
input-voice = While you speak
input-voice-hint = What is quieter than the threshold is not sent.
input-push = While you hold a key
input-push-hint = Works while this page has the keyboard, and not while you write.
threshold = Threshold
threshold-hint = All the way down: everything is sent.
push-key = Key to talk: { $key }
press-a-key = Press the key
release = Milliseconds that you are heard after letting go
noise = Noise around you
noise-off = Let it be
noise-off-hint = Nothing is taken away.
noise-usual = Suppress it
noise-usual-hint = As your browser does.
noise-strong = Suppress it strongly
noise-strong-hint = Keyboards and fans go too. Takes some of the processor.
echo = Cancel echo
gain = Even out how loud I am
music = Music
music-hint = Stereo at 128 kbit/s, nothing filtered. For instruments, not for rooms with loudspeakers.
mirror = Show me my own picture mirrored
blur = Blur what is behind me
blur-hint = Where your camera offers it. It takes some of the processor.
blur-never = This browser cannot blur what is behind you. Your system’s settings of the camera may be able to.
blur-not-here = Your camera does not offer to blur what is behind you.

## Laid out

in-focus = In focus
call-menu = More of the call
layout-grid = All alike
layout-speaker = Who speaks is large
only-sound = Only sound
show-pictures = Show pictures
screen-text = Share text: sharp
screen-motion = Share motion: smooth
pop-out = In a window of its own
pin-tile = Pin { $name }
unpin-tile = Unpin { $name }
full-screen-of = { $name } on the full screen
person-options = Volume and quality of { $name }
volume = Volume
screen-volume = Volume of their screen
mute-for-me = Mute for me
muted-for-me = muted for you

## Quality

quality = Quality of the call
quality-of-picture = Their picture
quality-of-pictures = Pictures of others
quality-usual = As in the settings
quality-automatic = Automatic
quality-automatic-hint = Fewer pictures a second while the line is too narrow for the sound.
quality-high = All of it
quality-high-hint = Every picture, also when sound suffers.
quality-low = Half
quality-low-hint = Every second picture.
quality-saver = Saver
quality-saver-hint = A quarter of the pictures.
round-trip = Round trip
loss = Loss
rate = Rate
path = Path
path-udp = UDP, directly
path-tcp = TCP
path-relay = through a relay
path-unknown = not known
pictures-of-others = Pictures of others
layers-2 = all
layers-1 = half
layers-0 = a quarter
sent-by-me = Sent by me
received = Received
source-mic = microphone
source-camera = camera
source-screen = screen
source-screen_audio = sound of the screen
source-unknown = unknown
ms = { NUMBER($ms) } ms
rate-kbps = { NUMBER($kbps) } kbit/s
fps = { NUMBER($fps) } pictures/s
lost = { $share } lost
jitter = jitter { NUMBER($ms) } ms
concealed = { $share } concealed
at-most = at most { $value }
copy-report = Copy a report

## Hands, reactions and screens

call-text = Text of the call
raise-hand = Raise hand
lower-hand = Lower hand
lower-hand-of = Lower the hand of { $name }
hand-lowered = A moderator has lowered your hand. You can raise it again.
raised-hands = Raised hands
hand-raised = hand raised
shortcut-hand = Raise or lower your hand
watch = Watch
watch-no-more = Stop watching { $name }
withheld = { $reason ->
    [codec] This browser cannot show this picture.
   *[no_line] There are too many pictures in this call. This one comes when another ends.
}
withheld-sound = { $reason ->
    [codec] This browser cannot play their voice.
   *[no_line] There are too many voices in this call. You hear this one when another ends.
}
stop-screen-of = Stop the screen of { $name }
stop-screen = Stop their screen
screen-stopped = A moderator has stopped your screen. To share it again, leave the call and join it again.
zoom-label = { $name }: plus and minus zoom, the arrow keys move, 0 shows all
zoom-reset = { $percent } % · show all

## Why a call does not come about

trouble-offline = This device has no network. The call goes on as soon as it has one.
trouble-server = The server does not answer. Check your network; the call goes on as soon as the server answers.
trouble-voice = The server cannot reach its media service, so there are no calls now. Tell whoever runs it; yours goes on by itself.
trouble-signalling = The server answers, but its line for calls does not open. A proxy or an extension of the browser may block WebSockets.
trouble-encryption = The media service is reached, but something on the way changes what is sent. Try another network, or turn off your VPN.
trouble-lost = The line of the call is lost. It is tried again until it works.
trouble-path = { $ways ->
    [udp] This network lets no UDP through to port { $port } of the server.
   *[both] This network lets neither UDP nor TCP through to port { $port } of the server.
}
trouble-relay = { $relay ->
    [refused] The relay refuses the server’s password: tell whoever runs the server.
    [silent] The relay cannot be reached either.
   *[useless] The relay answers but leads nowhere: tell whoever runs the server.
}
trouble-elsewhere = Try another network, such as your phone’s, or a VPN.

## What this browser cannot do

screen-never = This browser cannot share screens. Browsers on computers can.
screen-insecure = Browsers share screens on HTTPS addresses only. Ask your host for one.
pop-out-never = This browser has no windows that stay above others. Chrome and Edge on computers have them.
pop-out-nothing = Nobody shows a picture that could stand in a window of its own.
