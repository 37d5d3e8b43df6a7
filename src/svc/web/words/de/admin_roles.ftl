# Roles: creating, changing, assigning and removing them.

settings-roles = Rollen
roles-about = Mitglieder dürfen, was irgendeine ihrer Rollen erlaubt. Mit einer höheren Rolle kannst du auf Mitglieder einwirken, deren Rollen niedriger sind.
roles-keys = Ziehe eine Rolle an ihren Platz, oder drücke Strg+Umschalt+Pfeiltaste auf ihr.
create-role = Rolle erstellen
all-roles = Alle Rollen
role-name = Name
role-name-missing = Bitte gib einen Namen ein.
role-colour = Farbe
colour-none = Keine Farbe
colour-own = Andere Farbe
role-held = { $count ->
    [0] Niemand
    [one] 1 Mitglied
   *[other] { $count } Mitglieder
}
role-above-you = Nicht unter deiner eigenen Rolle
role-holders = Wer diese Rolle hat
role-held-by-none = Noch hat sie niemand.
give-role-to = Rolle geben an
delete-role = Rolle löschen
delete-role-title = Die Rolle { $name } löschen?
role-was-deleted = Die Rolle { $name } wurde gelöscht.
delete-role-text = Alle, die sie haben, verlieren sie. Sie lässt sich nicht wiederherstellen.
change-roles = Rollen ändern
roles-of = Rollen von { $name }
and-more-permissions = { $names } und { $count } weitere
