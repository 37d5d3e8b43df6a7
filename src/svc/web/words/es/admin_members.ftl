# The list of members for moderators: filters and bulk actions.

settings-members = Miembros
timed-out = Con aislamiento temporal
invited-by = Con invitación de { $name }
nobody-found = Nadie cumple esto.
filters = { $count ->
    [0] Filtros y orden
   *[other] Filtros y orden ({ $count } activos)
}
filter-any = Cualquiera
filter-any-time = Cualquier momento
filter-role = Rol
filter-joined = Entrada
filter-seen = Última visita
filter-kind = Quién
filter-kind-all = Todos
filter-kind-people = Personas
filter-kind-bots = Bots
days-joined-within = { $count ->
    [one] En el último día
   *[other] En los últimos { $count } días
}
days-joined-before = { $count ->
    [one] Hace más de un día
   *[other] Hace más de { $count } días
}
days-seen-within = { $count ->
    [one] En el último día
   *[other] En los últimos { $count } días
}
days-seen-before = { $count ->
    [one] No en el último día
   *[other] No en los últimos { $count } días
}
sort-by = Orden
sort-joined-down = Los más nuevos primero
sort-joined = Los más antiguos primero
sort-name = Por nombre
sort-last-seen-down = Vistos hace menos primero
sort-last-seen = Ausentes hace más primero
seen-on = última visita { $date }
choose-named = Elegir a { $name }
choose-all-shown = { $count ->
    [one] Elegir al que se muestra
   *[other] Elegir a los { $count } que se muestran
}
choose-none = Quitar la selección
chosen-count = { $count } elegidos
bulk-give = Dar un rol
bulk-take = Quitar un rol
bulk-timeout = Aislar temporalmente
bulk-kick = Expulsar
bulk-ban = Banear
bulk-give-title = { $count ->
    [one] ¿Dar { $role } a 1 miembro?
   *[other] ¿Dar { $role } a { $count } miembros?
}
bulk-take-title = { $count ->
    [one] ¿Quitar { $role } a 1 miembro?
   *[other] ¿Quitar { $role } a { $count } miembros?
}
bulk-timeout-title = { $count ->
    [one] ¿Aislar temporalmente a 1 miembro?
   *[other] ¿Aislar temporalmente a { $count } miembros?
}
bulk-kick-title = { $count ->
    [one] ¿Expulsar a 1 miembro?
   *[other] ¿Expulsar a { $count } miembros?
}
bulk-ban-title = { $count ->
    [one] ¿Banear a 1 miembro?
   *[other] ¿Banear a { $count } miembros?
}
bulk-give-act = Dar a { $count }
bulk-take-act = Quitar a { $count }
bulk-timeout-act = Aislar temporalmente a { $count }
bulk-kick-act = Expulsar a { $count }
bulk-ban-act = Banear a { $count }
bulk-give-done = { $count ->
    [one] 1 miembro tiene ahora el rol { $role }.
   *[other] { $count } miembros tienen ahora el rol { $role }.
}
bulk-take-done = { $count ->
    [one] 1 miembro ya no tiene el rol { $role }.
   *[other] { $count } miembros ya no tienen el rol { $role }.
}
bulk-timeout-done = { $count ->
    [one] 1 miembro está aislado temporalmente.
   *[other] { $count } miembros están aislados temporalmente.
}
bulk-kick-done = { $count ->
    [one] Se ha expulsado a 1 miembro.
   *[other] Se ha expulsado a { $count } miembros.
}
bulk-ban-done = { $count ->
    [one] Se ha baneado a 1 miembro.
   *[other] Se ha baneado a { $count } miembros.
}
bulk-meant = Afecta a { $count }
bulk-left-out = Quedan fuera: { $count }
bulk-why-self = Eres tú
bulk-why-rank = Necesitas un rol superior
bulk-why-has = Ya lo tiene
bulk-why-has-not = No lo tiene
bulk-progress = { $done } de { $of }
bulk-refused-title = { $count ->
    [one] Queda 1 miembro
   *[other] Quedan { $count } miembros
}
bulk-refused = El servidor ha rechazado a estos
