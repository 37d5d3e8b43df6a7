## Devices

device-microphone = Mikrofon
device-camera = Kamera
device-screen = Bildschirm
device-loudspeaker = Lautsprecher
device-refused = Zugriff auf { $device } verweigert. Erlaube ihn neben der Adresse und versuch es noch einmal.
device-none = { $device } auf diesem Gerät nicht gefunden.
device-busy = { $device } wird gerade von einem anderen Programm verwendet.
device-insecure = Zugriff auf { $device } erlauben Browser nur bei HTTPS-Adressen. Frag den Betreiber nach einer.
device-failed = Fehler beim Zugriff auf { $device }: { $message }
device-vanished = { $device } nicht mehr verfügbar. Ein anderes Gerät wird verwendet, wenn es eines gibt.
device-missing = Gewähltes Gerät nicht angeschlossen ({ $device }). Ein anderes wird verwendet.
device-usual = Wie im Browser
device-number = Gerät { $number }
choose-microphone = Mikrofon
choose-camera = Kamera
choose-speaker = Lautsprecher
no-speaker-choice = Dieser Browser spielt den Ton über den Lautsprecher ab, den das System gewählt hat.
level = Pegel
test-sound = Testton abspielen
settings-voice = Sprache und Video
input = Wann man dich hört
input-voice = Wenn du sprichst
input-voice-hint = Was leiser ist als die Schwelle, wird nicht gesendet.
input-push = Solange du eine Taste drückst
input-push-hint = Funktioniert, solange diese Seite im Vordergrund ist und du nicht gerade schreibst.
threshold = Schwelle
threshold-hint = Ganz unten: Alles wird gesendet.
push-key = Sprechtaste: { $key }
press-a-key = Drücke die Taste
release = Millisekunden, die man dich nach dem Loslassen noch hört
noise = Geräusche um dich herum
noise-off = Nicht unterdrücken
noise-off-hint = Es wird nichts herausgefiltert.
noise-usual = Unterdrücken
noise-usual-hint = So, wie dein Browser es macht.
noise-strong = Stark unterdrücken
noise-strong-hint = Auch Tastaturen und Lüfter verschwinden. Braucht etwas Rechenleistung.
echo = Echo unterdrücken
gain = Meine Lautstärke ausgleichen
music = Musik
music-hint = Stereo mit 128 kbit/s, ungefiltert. Für Instrumente, nicht für Räume mit Lautsprechern.
mirror = Mir mein eigenes Bild gespiegelt zeigen
blur = Meinen Hintergrund weichzeichnen
blur-hint = Wenn deine Kamera es anbietet. Braucht etwas Rechenleistung.
blur-never = Dieser Browser kann deinen Hintergrund nicht weichzeichnen. Vielleicht können es die Kameraeinstellungen deines Systems.
blur-not-here = Deine Kamera bietet nicht an, den Hintergrund weichzuzeichnen.

## Layout

in-focus = Im Fokus
call-menu = Mehr zum Anruf
other-camera = Kamera wechseln
layout-grid = Alle gleich groß
layout-speaker = Wer spricht, ist groß
only-sound = Nur Ton
show-pictures = Bilder zeigen
screen-options = Optionen zum Teilen
screen-kind = Was du teilst
screen-text = Text: scharf
screen-motion = Bewegung: flüssig
screen-size = Größe und Bildrate
screen-size-automatic = Automatisch: die Größe des Bildschirms
screen-size-option = { $height }p, { $fps } Bilder/s, bis { $mbps } Mbit/s
screen-size-hint = Andere bekommen weniger, wenn ihre oder deine Leitung weniger trägt.
pop-out = In eigenem Fenster
pin-tile = { $name } anpinnen
unpin-tile = { $name } nicht mehr anpinnen
full-screen-of = { $name } im Vollbild
person-options = Lautstärke und Qualität von { $name }
volume = Lautstärke
screen-volume = Lautstärke des geteilten Bildschirms
mute-for-me = Für mich stummschalten
muted-for-me = für dich stumm

## Quality

quality = Qualität des Anrufs
quality-of-picture = Bildqualität
quality-of-pictures = Bilder der anderen
quality-usual = Wie in den Einstellungen
quality-automatic = Automatisch
quality-automatic-hint = Kleinere, weniger oder keine Bilder, solange die Verbindung langsam ist, damit du alle hörst.
quality-high = Alles
quality-high-hint = Jedes Bild, auch wenn der Ton leidet.
quality-low = Die Hälfte
quality-low-hint = Jedes zweite Bild.
quality-saver = Sparsam
quality-saver-hint = Ein Viertel der Bilder.
less-data = Weniger Daten verbrauchen
less-data-hint = Für begrenzte Datentarife: kleine Bilder und weniger davon, in beide Richtungen. Stimmen und die Schrift auf geteilten Bildschirmen bleiben, wie sie sind.
round-trip = Umlaufzeit
loss = Verlust
rate = Datenrate
path = Verbindungsweg
path-udp = UDP, direkt
path-tcp = TCP
path-relay = über ein Relay
path-unknown = unbekannt
pictures-of-others = Bilder der anderen
layers-wish = wie gewünscht
layers-line = für deine Verbindung verringert
layers-paused = einige angehalten
downlink = Verbindung zu dir
downlink-rate = { $reason ->
    [use] { NUMBER($kbps) } kbit/s, mehr nicht versucht
    [loss] { NUMBER($kbps) } kbit/s, Pakete gehen verloren
   *[other] { NUMBER($kbps) } kbit/s
}
picture-now = Jetzt
picture-paused = angehalten
picture-size = { $layer ->
    [0] klein
    [1] mittel
   *[other] volle Größe
}
picture-reason = { $reason ->
    [line] mehr trägt deine Verbindung nicht
    [hidden] du siehst es nicht
   *[source] mehr wird nicht gesendet
}
layers-asked = { $layer ->
    [0] jedes vierte Bild
    [1] jedes zweite Bild
   *[other] jedes Bild
}
sent-by-me = Von mir gesendet
received = Empfangen
source-mic = Mikrofon
source-camera = Kamera
source-screen = Bildschirm
source-screen_audio = Ton des Bildschirms
source-unknown = unbekannt
ms = { NUMBER($ms) } ms
rate-kbps = { NUMBER($kbps) } kbit/s
fps = { NUMBER($fps) } Bilder/s
lost = { $share } verloren
jitter = Jitter { NUMBER($ms) } ms
concealed = { $share } überbrückt
at-most = höchstens { $value }
copy-report = Bericht kopieren

## Hands, reactions and screens

call-text = Chat zum Anruf
raise-hand = Hand heben
audience = Publikum { $count }
invite-to-speak = Zum Sprechen einladen
to-audience = Ins Publikum verschieben
stage-empty = Noch spricht niemand.
lower-hand = Hand senken
lower-hand-of = Hand von { $name } senken
hand-lowered = Die Moderation hat deine Hand gesenkt. Du kannst sie wieder heben.
may-speak = Du darfst jetzt sprechen. Schalte dein Mikro ein, wenn du bereit bist.
raised-hands = Gehobene Hände
hand-raised = Hand gehoben
shortcut-hand = Hand heben oder senken
watch = Ansehen
stop-watching = { $name } nicht mehr ansehen
withheld = { $reason ->
    [codec] Dieser Browser kann dieses Bild nicht zeigen.
   *[no_line] In diesem Anruf gibt es zu viele Bilder. Dieses kommt, sobald ein anderes endet.
}
paused-slow = Angehalten: deine Leitung ist langsam
withheld-sound = { $reason ->
    [codec] Dieser Browser kann die Stimme nicht abspielen.
   *[no_line] In diesem Anruf gibt es zu viele Stimmen. Du hörst diese, sobald eine andere endet.
}
stop-screen-of = Bildschirm von { $name } beenden
stop-screen = Bildschirmübertragung beenden
screen-stopped = Die Moderation hat deinen Bildschirm beendet. Um ihn wieder zu teilen, verlasse den Anruf und tritt ihm neu bei.
zoom-label = { $name }: Plus und Minus zoomen, die Pfeiltasten verschieben, 0 zeigt alles
zoom-reset = { $percent } % · alles zeigen

## Why a call does not connect

trouble-offline = Dieses Gerät hat kein Netz. Der Anruf geht weiter, sobald es eines hat.
trouble-server = Der Server antwortet nicht. Prüfe dein Netz; der Anruf geht weiter, sobald der Server antwortet.
trouble-voice = Der Server erreicht seinen Mediendienst nicht, darum gibt es gerade keine Anrufe. Sag es der Person, die ihn betreibt; deiner geht von selbst weiter.
trouble-signalling = Der Server antwortet, aber seine Leitung für Anrufe öffnet sich nicht. Vielleicht blockiert ein Proxy oder eine Browser-Erweiterung WebSockets.
trouble-encryption = Der Mediendienst ist erreichbar, aber unterwegs wird verändert, was gesendet wird. Versuche ein anderes Netz oder schalte dein VPN aus.
trouble-lost = Die Leitung des Anrufs ist verloren. Sie wird wieder versucht, bis es gelingt.
trouble-path = { $ways ->
    [udp] Dieses Netz lässt kein UDP zu Port { $port } des Servers durch.
   *[both] Dieses Netz lässt weder UDP noch TCP zu Port { $port } des Servers durch.
}
trouble-relay = { $relay ->
    [refused] Das Relay lehnt das Passwort des Servers ab: Sag es der Person, die den Server betreibt.
    [silent] Auch das Relay ist nicht erreichbar.
   *[useless] Das Relay antwortet, führt aber nirgendwohin: Sag es der Person, die den Server betreibt.
}
trouble-elsewhere = Versuche ein anderes Netz, etwa das deines Telefons, oder ein VPN.

## Features this browser lacks

call-never = Dieser Browser kann an keinem Anruf teilnehmen. Nimm einen neuen Chrome, Edge, Firefox oder Safari. Ist der Blockierungsmodus an, nimm diese Seite davon aus.
screen-never = Dieser Browser kann keinen Bildschirm teilen. Browser auf Computern können es.
screen-insecure = Browser teilen den Bildschirm nur auf HTTPS-Adressen. Bitte deinen Host um eine.
screen-silent = Der Bildschirm wird ohne Ton geteilt, denn sonst würden sich alle selbst hören. Teile einen Tab, um dessen Ton zu teilen.
pop-out-never = Dieser Browser hat keine Fenster, die über anderen bleiben. Chrome und Edge auf Computern haben sie.
pop-out-nothing = Niemand zeigt ein Bild, das in einem eigenen Fenster stehen könnte.

## Calls in encrypted channels

channel-encrypted = verschlüsselt
call-encrypted = Dieser Anruf ist verschlüsselt
call-encrypted-text = Nur die Geräte in diesem Anruf können ihn hören und sehen. Der Server gibt ihn ohne Schlüssel weiter. Er sieht aber, wer hier ist und wer spricht. Was neben dem Anruf geschrieben wird, ist nicht verschlüsselt.
call-encrypted-who = { $count ->
    [one] Ein Gerät hat die Schlüssel, von { $names }.
   *[other] { $count } Geräte haben die Schlüssel, von { $names }.
  }
call-encrypted-alone = Noch ist niemand sonst hier, deshalb gibt es keine Schlüssel.
call-encrypted-number = Vergleicht diese Nummer im Anruf. Wenn alle dieselbe vorlesen und ihr zu { $count } seid, kann niemand sonst mithören. Sie ändert sich, wenn jemand kommt oder geht.
call-encrypted-uninvited = Ein Gerät von { $names } hat die Schlüssel dieses Anrufs und wird hier nicht gezeigt. Vielleicht hört jemand mit.
call-encrypted-hint = Anrufe sind hier verschlüsselt: Nur wer daran teilnimmt, kann sie hören und sehen.
call-encrypted-off = Dieser Kanal ist nicht mehr verschlüsselt, deshalb hast du seinen Anruf verlassen.
