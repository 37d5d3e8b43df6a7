## Mehrere Server in einem Fenster

settings-servers = Server
servers-manage = Server hinzufügen oder entfernen
servers-text = Deine anderen Server stehen am Rand dieser Seite, mit ihren ungelesenen Nachrichten. Nur dieser Browser kennt die Liste: kein Server bekommt sie.
servers-address = Adresse, Einladung oder Leistenlink
servers-address-hint = Den Leistenlink eines anderen Servers findest du dort in den Einstellungen unter Server. Mit ihm siehst du hier ungelesene Nachrichten und Erwähnungen.
servers-add = Hinzufügen
servers-no-address = Das ist keine Adresse eines Servers.
servers-this = Das ist der Server, auf dem du bist.
servers-without-counts = ohne ungelesene Nachrichten, weil der Leistenlink fehlt
servers-unreachable = keine Antwort, oder der Leistenlink wurde widerrufen
servers-up = { $name } nach oben
servers-down = { $name } nach unten
servers-remove = { $name } entfernen
servers-own = Diesen Server anderswo zeigen
servers-own-text = Mit diesem Link zeigt die Seite eines anderen Servers, wie viele ungelesene Nachrichten und Erwähnungen du hier hast. Er zeigt diese Zahlen und sonst nichts.
servers-make-link = Leistenlink erstellen
servers-link = Dein Leistenlink
servers-link-warning = Füge ihn bei einem anderen Server unter Einstellungen, Server ein. Wer ihn hat, sieht deine Zahlen.
servers-renew-link = Neuen Link erstellen
servers-revoke-link = Link widerrufen
servers-copy = Dieselbe Liste bei einem anderen Server
servers-copy-text = Füge diese Liste dort in dasselbe Feld ein. Die Seite jenes Servers kann sie dann lesen; tu das also nur bei Servern, denen du vertraust.
servers-copy-all = Liste kopieren
servers-mentions = { $count ->
    [one] 1 Erwähnung
   *[other] { $count } Erwähnungen
}
servers-unread = { $count ->
    [one] 1 ungelesene Nachricht
   *[other] { $count } ungelesene Nachrichten
}
