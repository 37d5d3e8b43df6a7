# The texts in the page, grouped by view. Placeholders are in braces.

close = Schließen
cancel = Abbrechen
save = Speichern
saved = Gespeichert.
unsaved-changes = Nicht gespeicherte Änderungen
discard = Verwerfen
show = Anzeigen
edit = Bearbeiten
delete = Löschen
dismiss = Ausblenden
more = Mehr
loading = Wird geladen…
connecting = Verbindung wird hergestellt…
try-again = Erneut versuchen
nothing-found = Nichts gefunden.
today = Heute
yesterday = Gestern
somebody = Jemand
others = { $count ->
    [one] eine weitere Person
   *[other] { $count } weitere
}
fault-title = Auf dieser Seite ist etwas schiefgegangen
fault-text = Was du geschrieben hast, bleibt erhalten. Versuch es noch einmal; wenn das nicht hilft, lade die Seite neu.

## Channels

this-server = Dieser Server
server-settings = Servereinstellungen
channels = Kanäle
show-channels = Kanäle anzeigen
text-channels = Text
voice-channels = Sprache
voice-channel = Sprachkanal
unread-count = { $count } ungelesen
mention-count = { $count ->
    [one] 1 Erwähnung
   *[other] { $count } Erwähnungen
}
people-in = Personen in { $channel }
no-channels = Hier gibt es keinen Kanal, den du sehen darfst.
offline-text = Der Server ist gerade nicht erreichbar. Es wird weiter versucht.
reconnecting = Verbindung wird wiederhergestellt…
crowded = Du hast die Seite zu oft offen, und diese war die älteste. Lade sie neu, um hier weiterzumachen.
switcher-open = Gehe zu…
switcher-keys = Strg K
switcher-title = Gehe zu
switcher-field = Kanal oder Person

## Messages

messages = Nachrichten
beginning = Das ist der Anfang von { $channel }.
empty-channel = In { $channel } hat noch niemand geschrieben. Sag Hallo.
to-newest = Zu den neuesten Nachrichten
new-messages = Neu
message-of = Nachricht von { $name }
about = Über { $name }
channel-more = Mehr zu diesem Kanal
message-to = Nachricht an { $channel }
message-gone = Diese Nachricht gibt es nicht mehr.
channel-not-found = Diesen Kanal gibt es nicht, oder du darfst ihn nicht sehen.
go-to-message = Zur Nachricht
earlier-message = Eine frühere Nachricht
blocked-message = Du hast dieses Mitglied blockiert.
bot = Bot
mark-webhook = Webhook
mark-edited = bearbeitet
mark-pinned = angepinnt
file-count = { $count ->
    [one] Eine Datei
   *[other] { $count } Dateien
}
typing = { $count ->
    [one] { $names } schreibt…
   *[other] { $names } schreiben…
}
many-typing = Mehrere Personen schreiben…
react = Reagieren
react-with = Reagieren mit
react-with-sign = Mit { $sign } reagieren
reactions = Reaktionen
no-reactions = Noch hat niemand reagiert.
reaction-count = { $count ->
    [one] 1 Person
   *[other] { $count } Personen
}
reply = Antworten
forward = Weiterleiten
pin = Anpinnen
unpin = Nicht mehr anpinnen
copy-text = Text kopieren
select-text = Text auswählen
copy-id = ID kopieren
copy-link = Link kopieren
copied = Kopiert.
link-copied = Der Link ist kopiert.
copy-failed = Der Browser lässt die Seite nicht kopieren.
edit-message = Nachricht bearbeiten
delete-message-title = Diese Nachricht löschen?
delete-message-text = Sie verschwindet für alle.
delete-message = Nachricht löschen
pins = Angepinnte Nachrichten
no-pins = Hier ist noch nichts angepinnt.
search = Suche
search-field = Nachrichten suchen
searching = Suche läuft…
search-count = { $more ->
    [yes] Die neuesten { $count } Nachrichten
   *[other] { $count ->
        [one] Eine Nachricht
       *[other] { $count } Nachrichten
    }
}
search-nothing = Keine Nachrichten gefunden. Versuch es mit anderen oder weniger Wörtern.
search-more = Ältere anzeigen
search-filter-values = Werte für diesen Filter
search-kind-unknown = „{ $value }“ geht mit „{ $filter }:“ nicht. Möglich sind { $kinds }.
search-day-unknown = „{ $value }“ ist kein Datum. Schreib es so: 2026-01-31.
search-day-excluded = „{ $filter }:“ lässt sich nicht ausschließen. Nimm stattdessen „{ $other }:“.
# Single words without spaces: the names and values of the filters in the search field.
search-from = von
search-in = in
search-has = hat
search-before = vor
search-after = nach
search-has-link = Link
search-has-image = Bild
search-has-video = Video
search-has-audio = Ton
search-has-file = Datei
search-has-card = Karte
search-has-pin = angepinnt
search-has-reaction = Reaktion
jump-to-date = Zu einem Datum springen
date = Datum
jump-hint = Du kommst zur ersten Nachricht seit dem Beginn dieses Tages.
jump = Springen
date-missing = Bitte wähle ein Datum.

## Composer

send = Senden
attach = Dateien anhängen
files = Dateien
read-only = Du darfst hier lesen, aber nicht schreiben.
in-timeout-until = Du bist bis { $time } im Timeout.
may-not-attach = Du darfst hier keine Dateien anhängen.
too-many-files = In eine Nachricht passen zehn Dateien.
files-on-their-way = Deine Nachricht wird gesendet, sobald die Dateien hochgeladen sind.
replying-to = Antwort an { $name }
cancel-reply = Nicht antworten
ping = Benachrichtigen
upload-sending = Wird gesendet
upload-waits = Die Verbindung ist weg. Es geht von selbst weiter.
upload-checking = Wird geprüft
upload-done = Fertig
upload-cut-off = Die Verbindung ist abgebrochen.
remove-file = { $name } entfernen
not-sent = Nicht gesendet. { $reason }
edit-unsent = Ändern
sent-when-back = Wird gesendet, sobald die Verbindung wieder da ist.

## People

people = Personen
members = Mitglieder
members-count = Mitglieder · { $count }
find-member = Mitglied suchen
here-now = Online
away = Offline
profile = Profil
member-unknown = Diese Person ist hier kein Mitglied mehr.
is-online = Online
is-away = Offline
in-timeout = Im Timeout: kann nur lesen.
joined-on = Mitglied seit { $date }
roles = Rollen
role-owner = Besitzer
role-admin = Admins
role-moderator = Moderation
role-member = Mitglieder
role-guest = Gäste
mention = { $name } erwähnen
block = { $name } blockieren
unblock = Blockierung von { $name } aufheben

## Calls

call-none = Nicht in einem Anruf
call-joining = Verbindung wird hergestellt…
call-connected = Verbunden
call-ringing = Es klingelt…
call-reconnecting = Verbindung wird wiederhergestellt…
call-replaced = Du bist von einem anderen Tab oder Gerät aus beigetreten.
call-removed = Du wurdest aus dem Raum entfernt.
call-controls = Anrufsteuerung
your-call = Dein Anruf
people-in-call = { $count ->
    [one] 1 Person
   *[other] { $count } Personen
}
people-in-room = Personen im Raum
alone-in-call = Bisher bist nur du hier. Die anderen sehen dich in der Kanalliste und können dazukommen.
are-here = { $count ->
    [one] { $names } ist hier.
   *[other] { $names } sind hier.
}
nobody-here = Noch ist niemand hier.
join-call = Anruf beitreten
join-options = Beitreten mit…
join-with = { $channel } beitreten mit…
may-not-join = Du darfst hier keinen Anrufen beitreten.
with-mic = Mikrofon
with-camera = Kamera
mute = Stummschalten
unmute = Mikro einschalten
deafen = Ton ausschalten
undeafen = Ton einschalten
muted = stumm
muted-by-moderator = von der Moderation stummgeschaltet
deafened = Ton aus
deafened-by-moderator = Ton von der Moderation ausgeschaltet
start-camera = Kamera einschalten
stop-camera = Kamera ausschalten
share-screen = Bildschirm teilen
stop-sharing = Teilen beenden
leave-call = Verlassen
name-you = { $name } (du)
your-screen = Dein Bildschirm
screen-of = Bildschirm von { $name }
sound-blocked = Dein Browser hält den Ton zurück. Drücke hier, um ihn zu hören.

## Settings

settings = Einstellungen
settings-all = Alle Einstellungen
settings-pages = Seiten der Einstellungen
settings-find = Einstellung finden
settings-group-own = Dein Konto
settings-group-community = Community
settings-group-moderation = Moderation
settings-group-system = System
settings-profile = Profil
settings-look = Aussehen und Sprache
settings-identity = Abmelden
your-status = Status
choose-picture = Bild wählen
remove-picture = Bild entfernen
picture-checked = Das Bild wird angezeigt, sobald der Server es geprüft hat.
theme = Design
theme-system = Wie das System
theme-light = Hell
theme-dark = Dunkel
motion = Bewegung
motion-system = Wie das System
motion-reduced = Verringert
density = Nachrichten
density-cosy = Luftig
density-compact = Kompakt
text-size = Textgröße
language = Sprache
language-browser = Wie im Browser
sign-out = Abmelden
sign-out-title = Abmelden?
change-identity = Anderen Namen verwenden
give-up-identity-title = Aufgeben, wer du hier bist?
give-up-identity-text = Der Schlüssel dieses Browsers wird vernichtet. Ohne ein anderes Gerät, das du verknüpft hast, kann sich niemand mehr als du anmelden, auch du nicht. Deine Nachrichten bleiben.
shortcuts = Tastenkürzel
shortcut-send = Senden
shortcut-new-line = Neue Zeile
shortcut-edit-last = Deine letzte Nachricht bearbeiten
shortcut-read = Seitenbereich schließen, oder den Kanal als gelesen markieren und zur neuesten Nachricht gehen
shortcut-switcher = Zu einem Kanal oder einer Person gehen
shortcut-search = Suche
shortcut-sheet = Diese Tastenkürzel
shortcut-previous = Der Kanal darüber
shortcut-next = Der Kanal darunter
shortcut-next-unread = Der nächste Kanal mit Ungelesenem
shortcut-previous-unread = Der vorige Kanal mit Ungelesenem
shortcut-settings = Einstellungen öffnen
shortcut-page = Frühere Nachrichten, während du schreibst
shortcut-all-read = Alles als gelesen markieren
shortcut-mute = Mikrofon aus- oder einschalten
shortcut-deafen = Ton aus- oder einschalten
shortcut-camera = Kamera ein- oder ausschalten

slow-mode-here = Slowmode: Nach jeder Nachricht wartest du { $time }.
