# Invites.

settings-invites = Einladungen
invite-people = Leute einladen
invite-others = Andere einladen
invite-lifetime = Gültigkeit
invite-forever = Unbegrenzt gültig
invite-uses = Für wie viele
invite-for = { $count ->
    [one] 1 Person
   *[other] { $count } Personen
}
invite-for-all = Beliebig viele
invite-role = Rolle, die sie bekommen
invite-channel = Kanal, in dem sie ankommen
invite-any-channel = Erster Kanal
invite-approval = Jede Person bestätigen
invite-approval-hint = Sie wartet, bis jemand, der Einladungen verwaltet, sie hereinlässt.
make-link = Link erstellen
another-link = Weiteren Link erstellen
share-link = Teilen
invite-link = Link
invite-copied = Der Link ist kopiert. Schick ihn allen, die du hier haben möchtest.
invite-code-for-phones = Code für Handys
copy-invite = Link kopieren
invites-all-about = Alle Links, die noch gültig sind.
invites-own-about = Deine Links, die noch gültig sind. Wenn du den Server verlässt, verfallen sie.
no-invites = Gerade gibt es keinen Link.
invite-by = von { $name }
invite-by-operator = vom Betreiber
invite-used = { $uses ->
    [0] noch nicht benutzt
    [one] einmal benutzt
   *[other] { $uses }-mal benutzt
}
invite-used-of = { $uses } von { $most } Mal benutzt
invite-with-approval = mit Bestätigung
invite-until = bis
invite-joined-show = Wer kam
invite-joined = Damit gekommen: { $names }
invite-joined-none = Von denen, die damit gekommen sind, ist niemand mehr hier.
revoke = Widerrufen
revoke-invite = { $code } widerrufen
revoke-title = Diesen Link widerrufen?
revoke-text = Niemand kann mehr damit beitreten. Mitglieder, die damit gekommen sind, bleiben.
applications = Warten auf Einlass
application-approve = Hereinlassen
application-refuse = Ablehnen
