markdown-table = Tabelle
markdown-spoiler = Spoiler. Anzeigen
markdown-copy = Kopieren
markdown-copied = Kopiert
