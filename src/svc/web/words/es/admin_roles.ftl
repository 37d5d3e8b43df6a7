# Roles: creating, changing, assigning and removing them.

settings-roles = Roles
roles-about = Los miembros pueden hacer lo que permita cualquiera de sus roles. Con un rol superior puedes actuar sobre miembros con roles inferiores.
roles-keys = Arrastra un rol para ordenarlo, o pulsa Ctrl+Mayús+Flecha sobre él.
create-role = Crear un rol
all-roles = Todos los roles
role-name = Nombre
role-name-missing = Escribe un nombre.
role-colour = Color
colour-none = Sin color
colour-own = Otro color
role-held = { $count ->
    [0] Nadie
    [one] 1 miembro
   *[other] { $count } miembros
}
role-above-you = No está por debajo de tu rol
role-holders = Quién tiene este rol
role-held-by-none = Nadie lo tiene todavía.
give-role-to = Dárselo a
delete-role = Eliminar el rol
delete-role-title = ¿Eliminar el rol { $name }?
role-was-deleted = Se ha eliminado el rol { $name }.
delete-role-text = Lo pierden todos los que lo tienen. No se podrá recuperar.
change-roles = Cambiar roles
roles-of = Roles de { $name }
and-more-permissions = { $names } y { $count } más
