## Mehrere Server in einem Fenster

settings-servers = Server
servers-manage = Server hinzufügen oder entfernen
servers-text = Deine anderen Server stehen am Rand dieser Seite, mit ihren ungelesenen Nachrichten. Nur dieser Browser kennt die Liste: kein Server bekommt sie.
servers-address = Adresse, Einladung oder Serverlink
servers-address-hint = Den Serverlink eines anderen Servers findest du dort in den Einstellungen unter Server. Mit ihm siehst du hier ungelesene Nachrichten und Erwähnungen.
servers-add = Hinzufügen
servers-no-address = Das ist keine Adresse eines Servers.
servers-this = Das ist der Server, auf dem du bist.
servers-without-counts = ohne ungelesene Nachrichten, weil der Serverlink fehlt
servers-unreachable = keine Antwort, oder der Serverlink wurde widerrufen
servers-more = Mehr zu { $name }
servers-up = Nach oben
servers-down = Nach unten
servers-remove = Entfernen
servers-own = Diesen Server anderswo zeigen
servers-own-text = Mit diesem Link zeigt die Seite eines anderen Servers, wie viele ungelesene Nachrichten und Erwähnungen du hier hast. Er zeigt diese Zahlen und sonst nichts.
servers-make-link = Serverlink erstellen
servers-link = Dein Serverlink
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
