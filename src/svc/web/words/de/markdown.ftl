markdown-table = Tabelle
markdown-spoiler = Spoiler. Anzeigen
markdown-copy = Kopieren
markdown-copied = Kopiert
markdown-to-do = Zu tun
markdown-done = Erledigt
link-to-message = #{ $channel } › Nachricht
