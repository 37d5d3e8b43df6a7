# The list of members for moderators: filters and bulk actions.

settings-members = Mitglieder
timed-out = Im Timeout
invited-by = Eingeladen von { $name }
nobody-found = Auf niemanden trifft das zu.
filters = { $count ->
    [0] Filter und Reihenfolge
   *[other] Filter und Reihenfolge ({ $count } gesetzt)
}
filter-any = Alle
filter-any-time = Jederzeit
filter-role = Rolle
filter-joined = Beigetreten
filter-seen = Zuletzt gesehen
filter-kind = Wer
filter-kind-all = Alle
filter-kind-people = Menschen
filter-kind-bots = Bots
days-joined-within = { $count ->
    [one] Am letzten Tag
   *[other] In den letzten { $count } Tagen
}
days-joined-before = { $count ->
    [one] Vor mehr als einem Tag
   *[other] Vor mehr als { $count } Tagen
}
days-seen-within = { $count ->
    [one] Am letzten Tag
   *[other] In den letzten { $count } Tagen
}
days-seen-before = { $count ->
    [one] Seit einem Tag nicht
   *[other] Seit { $count } Tagen nicht
}
sort-by = Reihenfolge
sort-joined-down = Neueste zuerst
sort-joined = Älteste zuerst
sort-name = Nach Namen
sort-last-seen-down = Zuletzt gesehene zuerst
sort-last-seen = Am längsten abwesende zuerst
seen-on = zuletzt gesehen { $date }
choose-named = { $name } auswählen
choose-all-shown = { $count ->
    [one] Den Angezeigten auswählen
   *[other] Alle { $count } angezeigten auswählen
}
choose-none = Auswahl aufheben
chosen-count = { $count } ausgewählt
bulk-give = Rolle geben
bulk-take = Rolle nehmen
bulk-timeout = Timeout geben
bulk-kick = Kicken
bulk-ban = Bannen
bulk-give-title = { $count ->
    [one] { $role } an 1 Mitglied geben?
   *[other] { $role } an { $count } Mitglieder geben?
}
bulk-take-title = { $count ->
    [one] { $role } von 1 Mitglied nehmen?
   *[other] { $role } von { $count } Mitgliedern nehmen?
}
bulk-timeout-title = { $count ->
    [one] 1 Mitglied einen Timeout geben?
   *[other] { $count } Mitgliedern einen Timeout geben?
}
bulk-kick-title = { $count ->
    [one] 1 Mitglied kicken?
   *[other] { $count } Mitglieder kicken?
}
bulk-ban-title = { $count ->
    [one] 1 Mitglied bannen?
   *[other] { $count } Mitglieder bannen?
}
bulk-give-act = { $count } geben
bulk-take-act = { $count } nehmen
bulk-timeout-act = { $count } einen Timeout geben
bulk-kick-act = { $count } kicken
bulk-ban-act = { $count } bannen
bulk-give-done = { $count ->
    [one] 1 Mitglied hat jetzt die Rolle { $role }.
   *[other] { $count } Mitglieder haben jetzt die Rolle { $role }.
}
bulk-take-done = { $count ->
    [one] 1 Mitglied hat die Rolle { $role } nicht mehr.
   *[other] { $count } Mitglieder haben die Rolle { $role } nicht mehr.
}
bulk-timeout-done = { $count ->
    [one] 1 Mitglied ist im Timeout.
   *[other] { $count } Mitglieder sind im Timeout.
}
bulk-kick-done = { $count ->
    [one] 1 Mitglied wurde gekickt.
   *[other] { $count } Mitglieder wurden gekickt.
}
bulk-ban-done = { $count ->
    [one] 1 Mitglied ist gebannt.
   *[other] { $count } Mitglieder sind gebannt.
}
bulk-meant = Betroffen: { $count }
bulk-left-out = Ausgelassen: { $count }
bulk-why-self = Das bist du
bulk-why-rank = Du brauchst eine höhere Rolle
bulk-why-has = Hat sie schon
bulk-why-has-not = Hat sie nicht
bulk-progress = { $done } von { $of }
bulk-refused-title = { $count ->
    [one] 1 Mitglied bleibt übrig
   *[other] { $count } Mitglieder bleiben übrig
}
bulk-refused = Diese hat der Server abgelehnt
