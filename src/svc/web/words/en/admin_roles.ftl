# Roles: creating, changing, assigning and removing them.

settings-roles = Roles
roles-about = Members have the permissions of all their roles. You can manage members whose roles are below yours.
roles-keys = Drag a role to move it, or press Ctrl+Shift+Arrow on it.
create-role = Create role
all-roles = All roles
role-name = Name
role-name-missing = Enter a name.
role-colour = Colour
colour-none = No colour
colour-own = Custom colour
role-held = { $count ->
    [0] No members
    [one] 1 member
   *[other] { $count } members
}
role-above-you = Not below your own role
role-holders = Members with this role
role-held-by-none = Nobody has this role yet.
give-role-to = Add a member
delete-role = Delete role
delete-role-title = Delete the role { $name }?
role-was-deleted = The role { $name } was deleted.
delete-role-text = All members lose this role. This can’t be undone.
change-roles = Edit roles
roles-of = Roles of { $name }
and-more-permissions = { $names } and { $count } more
