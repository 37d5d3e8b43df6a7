## Several servers in one window

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

link-accounts = Verknüpfte Konten
link-accounts-text = Zeig in deinem Profil, dass du auch Mitglied eines anderen Servers bist. Die Seiten beider Server fragen dich vorher. Jede unterschreibt mit ihrem eigenen Schlüssel, sodass sich niemand sonst für dich ausgeben kann.
link-choose = Konto verknüpfen
link-no-servers = Füge zuerst oben den anderen Server hinzu.
link-title = Konten verknüpfen
link-start = Dein Profil hier kann zeigen, dass du auch Mitglied von { $host } bist. Die Seite jenes Servers öffnet sich jetzt und bittet dich um Bestätigung.
link-start-note = Die Seite von { $host } erfährt, welches Konto du hier hast. Dein Profil zeigt nichts, bevor du zustimmst.
link-continue = Dort weiter
link-request-title = Gehört dir das Konto bei { $host }?
link-request = { $host } bittet dich zu bestätigen, dass dein Konto dort und dein Konto hier derselben Person gehören.
link-request-note = Bestätige das nur, wenn du es gerade selbst bei { $host } begonnen hast. Die Seite dort erfährt, welches Konto du hier hast. Der Server, auf dem du bist, erfährt nichts von { $host }.
link-confirm = Ja, beide gehören mir
link-show-title = Konto im Profil zeigen?
link-show = { $host } hat dein Konto bestätigt. Dein Profil hier kann es jetzt allen auf diesem Server zeigen.
link-show-note = Dieser Server erfährt dann, dass du Mitglied von { $host } bist. Du kannst das Konto jederzeit entfernen und die Bestätigung dort widerrufen.
link-show-action = Im Profil zeigen
link-done-title = Deine Konten sind verknüpft
link-done = Dein Profil hier zeigt jetzt { $host }.
link-both = Soll dein Profil bei { $host } auch diesen Server zeigen? Die Seite dort fragt dich vorher.
link-both-action = Dort fragen
link-unknown = { $host } fragt nach einem verknüpften Konto, gehört aber hier nicht zu deinen Servern. Füge ihn in den Einstellungen unter Server hinzu und beginne noch einmal.
link-expired = Diese Anfrage ist zu alt. Beginne noch einmal bei { $host }.
link-invalid = Diese Anfrage nach einem verknüpften Konto ist ungültig. Beginne noch einmal auf dem Server, auf dem du angefangen hast.
link-also = Auch auf { $host }
link-unchecked = Noch nicht geprüft
link-verify = Bei { $host } prüfen
link-verify-short = Prüfen
link-verify-hint = { $host } erfährt dann, dass du dir dieses Konto angesehen hast
link-verified = Geprüft: dieselbe Person wie { $name }
link-not-confirmed = Dort nicht oder nicht mehr bestätigt
link-no-response = Keine Antwort, oder dein Serverlink wurde widerrufen
link-unverified = Nur Mitglieder beider Server können das prüfen
link-remove = { $host } aus dem Profil entfernen
link-since = In deinem Profil seit { $date }
link-confirmations = Deine Bestätigungen
link-confirmations-text = Du hast diesen Servern bestätigt, dass du hier ein Konto hast. Nachdem du eine Bestätigung widerrufen hast, kann niemand das Konto mehr prüfen.
link-another-server = Ein anderer Server
link-confirmed-on = Bestätigt am { $date }
link-withdraw = Bestätigung für { $host } widerrufen
link-withdraw-short = Widerrufen
