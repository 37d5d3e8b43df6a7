# Administration: shared texts, channels and permissions.

show-more = Mehr anzeigen
type-its-name = Gib „{ $name }“ ein, um fortzufahren
pick-hint = Name einer Rolle oder Person
pick-member-hint = Name eines Mitglieds
remove-target = { $name } entfernen
role-gone = Gelöschte Rolle
menu-of = Mehr zu { $name }
settings-of = Einstellungen von { $name }
settings-channels = Kanäle
lasting-none = Keine
lasting-seconds = { $count ->
    [one] 1 Sekunde
   *[other] { $count } Sekunden
}
lasting-minutes = { $count ->
    [one] 1 Minute
   *[other] { $count } Minuten
}
lasting-hours = { $count ->
    [one] 1 Stunde
   *[other] { $count } Stunden
}
lasting-days = { $count ->
    [one] 1 Tag
   *[other] { $count } Tage
}

## Channels

channels-about = Alle Kanäle, in der Reihenfolge der Liste an der Seite.
channels-keys = Ziehe sie dort an ihren Platz, oder drücke Strg+Umschalt+Pfeiltaste auf einem.
create-channel = Kanal erstellen
create-text-channel = Textkanal erstellen
create-voice-channel = Sprachkanal erstellen
create-channel-in = Kanal in { $name } erstellen
channel-kind = Art
channel-text = Text
channel-text-hint = Nachrichten, Bilder und Dateien
channel-voice = Sprache
channel-voice-hint = Sprechen, mit Kameras und geteilten Bildschirmen
channel-category = Kategorie
channel-category-hint = Eine Überschrift, unter der Kanäle stehen
channel-name-missing = Bitte gib einen Namen ein.
channel-topic-hint = Wofür der Kanal da ist. Das Thema steht oben im Kanal.
no-category = Keine Kategorie
channel-private = Privat
channel-private-hint = Nur Rollen und Personen, die du auswählst, sehen ihn. Der Besitzer sieht ihn immer.
channel-access-add = Wer ihn sieht
channel-access = Alle, die ihn sehen
channel-access-empty = Noch niemand sonst.
channel-settings = Kanaleinstellungen
channel-gone = Diesen Kanal gibt es nicht mehr.
channel-page-overview = Übersicht
channel-page-permissions = Berechtigungen
slow-mode-hint = Wie lange jedes Mitglied bis zur nächsten Nachricht wartet. Für die Moderation gilt das nicht.
user-limit-hint = Wie viele Personen am Anruf teilnehmen können. 0 heißt unbegrenzt.
user-limit-of = { $count } von { $limit } Plätzen belegt
bitrate-usual = Automatisch
kbps = { $kbps } kbit/s
encrypt-calls-hint = Nur wer am Anruf teilnimmt, kann ihn hören und sehen; der Server hat keinen Schlüssel. Bis zu 25 Personen. Du kannst das ändern, solange niemand im Kanal ist.
channel-archive = Kanal archivieren
channel-archive-text = Ein archivierter Kanal verschwindet aus der Liste. Man kann ihn weiter durchsuchen, und du kannst ihn wiederherstellen.
channel-archived = { $name } ist archiviert.
archived-channels = Archivierte Kanäle
bring-back = Wiederherstellen
channel-delete = Löschen
channel-delete-title = { $name } löschen?
channel-delete-text = Alle Nachrichten darin werden mitgelöscht. Sie lassen sich nicht wiederherstellen.
category-delete-text = Die Kanäle darin bleiben, ohne Kategorie.
edit-channel = Kanaleinstellungen
edit-named = { $name } bearbeiten
channel-permissions = Berechtigungen
move-up = Nach oben
move-down = Nach unten
move-up-named = { $name } nach oben verschieben
move-down-named = { $name } nach unten verschieben
overrides = Was Rollen und Personen hier dürfen
overrides-about = Ist hier nichts gewählt, gilt, was die Rollen auf dem Server erlauben. Wenn eine der Rollen es hier erlaubt, ist es erlaubt; ein Eintrag für die Person entscheidet zuletzt.
overrides-add = Ansehen als Rolle oder Person
overrides-for = Rollen und Personen mit eigenen Einstellungen
overrides-of = Berechtigungen von { $name } in diesem Kanal
override-allow = Erlauben
override-deny = Verbieten
override-neutral = Wie in den Rollen
result-of-role = Angesehen als jemand allein mit der Rolle { $name }: Am Ende jeder Zeile steht, was hier erlaubt ist.
result-of-person = Angesehen als { $name } mit allen Rollen: Am Ende jeder Zeile steht, was hier erlaubt ist.
outcome-may = darf
outcome-may-not = darf nicht

## Permissions

permissions-text = Text
permissions-voice = Sprache
permissions-members = Mitglieder
permissions-server = Server
permission-view-channel = Kanal sehen
permits-view-channel = Seine Nachrichten lesen und sehen, wer dort spricht.
permission-send-messages = Nachrichten senden
permits-send-messages = Schreiben und Geschriebenes ändern.
permission-attach-files = Dateien anhängen
permits-attach-files = Bilder, Videos und andere Dateien senden.
permission-add-reactions = Reaktionen hinzufügen
permits-add-reactions = Mit einem Emoji auf eine Nachricht antworten.
permission-manage-messages = Nachrichten verwalten
permits-manage-messages = Nachrichten anderer löschen und anpinnen und im Slowmode ohne Wartezeit schreiben.
permission-mention-everyone = Alle erwähnen
permits-mention-everyone = Eine ganze Rolle, alle oder alle, die online sind, benachrichtigen.
permission-manage-webhooks = Webhooks verwalten
permits-manage-webhooks = Adressen erstellen, über die Programme hier schreiben.
permission-join-voice = An Anrufen teilnehmen
permits-join-voice = Sprachkanälen beitreten und zuhören.
permission-speak = Sprechen
permits-speak = In Anrufen gehört werden.
permission-share-video = Kamera teilen
permits-share-video = In Anrufen gesehen werden.
permission-share-screen = Bildschirm teilen
permits-share-screen = In Anrufen einen Bildschirm, ein Fenster oder einen Tab zeigen.
permission-mute-members = Mitglieder stummschalten
permits-mute-members = Anderen in Anrufen das Mikrofon oder den Ton ausschalten.
permission-move-members = Mitglieder verschieben
permits-move-members = Andere in einen anderen Anruf verschieben oder aus dem Anruf entfernen.
permission-change-nickname = Eigenen Namen ändern
permits-change-nickname = Den eigenen Namen und Status wählen.
permission-create-invites = Einladungen erstellen
permits-create-invites = Links erstellen, mit denen man beitreten kann.
permission-manage-invites = Einladungen verwalten
permits-manage-invites = Einladungen anderer sehen und widerrufen.
permission-manage-nicknames = Mitglieder umbenennen
permits-manage-nicknames = Die Namen von Mitgliedern mit niedrigerer Rolle ändern.
permission-timeout-members = Timeouts vergeben
permits-timeout-members = Mitglieder mit niedrigerer Rolle eine Zeit lang nur lesen lassen.
permission-kick-members = Mitglieder kicken
permits-kick-members = Mitglieder mit niedrigerer Rolle entfernen. Mit einer Einladung können sie zurückkommen.
permission-ban-members = Mitglieder bannen
permits-ban-members = Mitglieder mit niedrigerer Rolle dauerhaft entfernen und ihren Bann wieder aufheben.
permission-view-reports = Meldungen sehen
permits-view-reports = Lesen, was Mitglieder melden und was die Moderation getan hat.
permission-view-audit-log = Audit-Log sehen
permits-view-audit-log = Lesen, wer auf diesem Server was geändert hat.
permission-manage-emoji = Emoji verwalten
permits-manage-emoji = Die Emoji des Servers hochladen, umbenennen und löschen.
permission-manage-bots = Bots verwalten
permits-manage-bots = Bots und ihre Token erstellen und solche unter der eigenen Rolle löschen.
permission-manage-automod = Automatische Moderation verwalten
permits-manage-automod = Regeln, die Nachrichten prüfen, erstellen, ausprobieren, ändern und löschen.
permission-manage-channels = Kanäle verwalten
permits-manage-channels = Kanäle erstellen, ändern, ordnen und löschen.
permission-manage-roles = Rollen verwalten
permits-manage-roles = Rollen unter der eigenen erstellen, ändern, vergeben und entziehen.
