inbox = Erwähnungen
inbox-empty = Noch hat dich niemand erwähnt. Nachrichten, die dich, eine deiner Rollen oder alle nennen, und Antworten an dich stehen hier.
inbox-new = Neu
inbox-read = Alle als gelesen markieren
shortcut-inbox = Erwähnungen von dir
