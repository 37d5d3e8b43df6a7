# Notifications: levels, mutes, sounds, notices and Web Push.

notifications = Benachrichtigungen
notifications-muted = Benachrichtigungen: stumm
channel-muted = stumm
mark-read = Als gelesen markieren
mark-unread = Als ungelesen markieren
notify-about = Benachrichtigungen für
level-default = Wie überall ({ $level })
level-all = Alle Nachrichten
level-mentions = Erwähnungen
level-nothing = Nichts
mute-for = Stummschalten
mute-15-minutes = Für 15 Minuten
mute-1-hour = Für 1 Stunde
mute-8-hours = Für 8 Stunden
mute-24-hours = Für 24 Stunden
mute-until-changed = Bis ich es wieder ändere
muted-until = Stumm bis { $time }
muted-for-good = Stumm
unmute-channel = Stummschaltung aufheben

## Settings

settings-notifications = Benachrichtigungen
level-of-all = Benachrichtigungen (Standard für alle Kanäle)
mute-all = Alles stummschalten
this-device = Auf diesem Gerät
notices = Benachrichtigungen zeigen, solange diese Seite offen ist
notices-hint = Nur, wenn du die Seite gerade nicht siehst.
notices-refused = Dein Browser erlaubt dieser Seite keine Benachrichtigungen. Erlaube sie neben der Adresse und komm dann hierher zurück.
push = Mich auf diesem Gerät benachrichtigen, wenn die Seite geschlossen ist
push-off = Der Hersteller deines Browsers leitet die Nachrichten verschlüsselt weiter und kann sie nicht lesen.
push-on = An. Du wirst auf diesem Gerät benachrichtigt, wenn du die Seite nirgends vor dir hast.
push-busy = Einen Moment…
push-insecure = Das machen Browser nur bei https://-Adressen. Frag den Betreiber dieses Servers nach seiner https://-Adresse.
push-install = Auf iPhones und iPads musst du diese Seite erst zum Home-Bildschirm hinzufügen und das hier dann dort einschalten.
push-unsupported = Dieser Browser kann das nicht. Andere können es: Firefox, Chrome, Edge und Safari.
push-refused = Dein Browser erlaubt dieser Seite nicht, dich zu benachrichtigen. Erlaube Benachrichtigungen neben der Adresse und komm dann hierher zurück.
push-failed = Der Push-Dienst deines Browsers ist nicht erreichbar oder in den Einstellungen des Browsers ausgeschaltet. Versuch es später noch einmal.
sounds = Töne
sound-message = Eine Nachricht
sound-mention = Eine Erwähnung oder eine Antwort an dich
sound-join = Jemand kommt in deinen Anruf
sound-leave = Jemand verlässt deinen Anruf
sound-mute = Du schaltest dich stumm oder wieder laut
listen = Anhören
listen-to = Anhören: { $sound }
