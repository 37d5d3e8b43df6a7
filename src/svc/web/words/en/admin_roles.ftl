# Roles: creating, changing, giving and removing them.

settings-roles = Roles
roles-about = Members can do what any of their roles permits. You can act on members whose roles are lower than yours.
roles-keys = Drag a role to move it, or press Ctrl+Shift+Arrow on it.
create-role = Create a role
all-roles = All roles
role-name = Name
role-name-missing = Please enter a name.
role-colour = Colour
colour-none = No colour
colour-own = Another colour
role-held = { $count ->
    [0] Nobody
    [one] 1 member
   *[other] { $count } members
}
role-above-you = Not below your own role
role-holders = Who has this role
role-held-by-none = Nobody has it yet.
give-role-to = Give it to
delete-role = Delete the role
delete-role-title = Delete the role { $name }?
role-was-deleted = The role { $name } was deleted.
delete-role-text = Everybody who has it loses it. This cannot be undone.
change-roles = Change roles
roles-of = Roles of { $name }
and-more-permissions = { $names } and { $count } more
