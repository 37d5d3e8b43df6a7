completion = Vorschläge
completion-role = Rolle
completion-group = Gruppe
emoji-choose = Emoji wählen
emoji-more = Alle Emoji
drop-here = Dateien hier ablegen, um sie anzuhängen
describe-file = { $name } beschreiben
description = Beschreibung
description-hint = Was zu sehen ist, für alle, die es nicht sehen können.
file-gone = Diese Datei gibt es nicht mehr.
picture-of = { $at } von { $count }
picture-before = Vorheriges Bild
picture-after = Nächstes Bild
open-file = In eigenem Tab öffnen
formatting = Formatierung
format-bold = Fett
format-italic = Kursiv
format-underline = Unterstrichen
format-code = Code
format-strike = Durchgestrichen
format-spoiler = Spoiler
news-count = { $count ->
    [one] 1 neue Nachricht
   *[other] { NUMBER($count) } neue Nachrichten
}
pasted-as-file = Der Text ist zu lang für eine Nachricht und hängt deshalb als Datei an.
too-long = Der Text ist zu lang für eine Nachricht von 4.000 Zeichen.
characters-left = { $count ->
    [one] noch 1 Zeichen
   *[other] noch { $count } Zeichen
}
emoticons = Emoticons zu Emoji machen
emoticons-hint = Was du als :) schreibst, wird als 🙂 gesendet. Die Rücktaste direkt danach macht das rückgängig.
command-shrug = ¯\_(ツ)_/¯ hinter deine Nachricht
command-tableflip = (╯°□°)╯︵ ┻━┻ hinter deine Nachricht
command-unflip = ┬─┬ノ( º _ ºノ) hinter deine Nachricht
command-spoiler = Den Text verdeckt senden, bis jemand darauf drückt
command-nick = Deinen Namen hier ändern
command-status = Deinen Status ändern; ohne Text wird er gelöscht
slow-mode-left = Slowmode: Du kannst in { $time } wieder schreiben.
spoiler = Spoiler
spoiler-cover = Spoiler: { $kind ->
    [picture] ein Bild
    [video] ein Video
    [audio] ein Ton
   *[file] eine Datei
}. Zeigen
spoiler-mark = Spoiler: { $name } verdecken, bis jemand darauf drückt
voice-message = Sprachnachricht
voice-record = Sprachnachricht aufnehmen
recording = Aufnahme läuft … { $time }
voice-attach = Anhängen
