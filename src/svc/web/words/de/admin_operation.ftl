# Server operation: bots, storage and backups.

settings-bots = Bots
bots-about = Ein Bot ist ein Mitglied, das ein Programm ist. Statt sich anzumelden zeigt er sein Token, und er darf, was seine Rollen erlauben.
no-bots = Es gibt noch keinen Bot.
bot-name = Name des Bots
create-bot = Bot erstellen
bot-token-of = Das Token von { $name }
bot-token-once = Es wird nur dieses eine Mal gezeigt; der Server behält es nicht. Bewahre es wie ein Passwort auf: Wer es hat, kann alles, was der Bot darf.
bot-token-label = Token
bot-token-kept = Ich habe es aufbewahrt
bot-token-made = Token von { $name } erstellt, { $date }
bot-no-token = kein Token
bot-token = Neues Token erstellen
bot-token-title = Neues Token für { $name } erstellen?
bot-token-text = Das bisherige gilt ab sofort nicht mehr.
bot-delete = Bot löschen
bot-delete-title = Den Bot { $name } löschen?
bot-delete-text = Sein Token gilt ab sofort nicht mehr. Seine Nachrichten bleiben.
bot-deleted = { $name } ist gelöscht.
settings-storage = Speicher
storage-used = Dateien belegen { $used } von { $limit }.
storage-beside = Die Datenbank belegt { $database }. Auf der Festplatte sind { $free } frei.
storage-by-kind = Nach Zweck
storage-by-member = Nach Mitglied
storage-of-one = Jedes Mitglied darf { $limit } behalten.
storage-empty = Noch ist nichts gespeichert.
storage-files = { $count ->
    [one] 1 Datei
   *[other] { $count } Dateien
}
storage-others = Alle anderen
storage-kind-message = Nachrichten
storage-kind-member = Bilder von Mitgliedern
storage-kind-webhook = Bilder von Webhooks
storage-kind-emoji = Emoji
storage-kind-draft = Entwürfe
storage-kind-job = In Arbeit
storage-kind-server = Symbol des Servers
storage-kind-private = Dateien in privaten Unterhaltungen
storage-kind-unused = Nicht mehr gebraucht, bald gelöscht
retention-forever = So lange wie ihre Nachrichten
retention-days = { $time } lang
retention-title = Anhänge löschen, die älter sind als { $time }?
retention-text = Der Server beginnt sofort und löscht von da an jeden Tag. Gelöschtes lässt sich nicht zurückholen.
retention-do = Löschen
settings-backups = Sicherungen
backups-about = In einer Sicherung ist alles: Nachrichten, Dateien, Mitglieder und alle Geheimnisse des Servers. Lade sie herunter und bewahre sie dort auf, wo niemand sonst sie lesen kann. Der Server behält fünf.
no-backups = Auf dem Server liegt keine Sicherung.
backup-make = Sicherung erstellen
backup-making = Eine Sicherung wird erstellt. Du kannst solange weitermachen.
backup-download = Herunterladen
backup-delete = Löschen
backup-delete-title = Diese Sicherung löschen?
backup-delete-text = Sie lässt sich nicht zurückholen. Heruntergeladene Kopien bleiben.
backups-restore = Eine Sicherung wird auf dem Rechner eingespielt, auf dem der Server läuft: svc admin restore.
