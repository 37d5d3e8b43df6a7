# Invites.

settings-invites = Invitaciones
invite-people = Invitar a gente
invite-others = Invitar a otras personas
invite-lifetime = Válida durante
invite-forever = Sin fecha de caducidad
invite-uses = Para cuántas personas
invite-for = { $count ->
    [one] 1 persona
   *[other] { $count } personas
}
invite-for-all = Sin límite
invite-role = Reciben el rol
invite-channel = Llegan a
invite-any-channel = El primer canal
invite-approval = Aprobar a cada persona
invite-approval-hint = Esperan hasta que las deje entrar alguien que gestione las invitaciones.
make-link = Crear un enlace
another-link = Crear otro enlace
share-link = Compartir
invite-link = Enlace
invite-copied = Enlace copiado. Envíaselo a quien quieras que venga.
invite-code-for-phones = Código para teléfonos
copy-invite = Copiar el enlace
invites-all-about = Todos los enlaces que siguen siendo válidos.
invites-own-about = Tus enlaces que siguen siendo válidos. Un enlace deja de valer cuando te vas.
no-invites = Ahora mismo no hay ningún enlace.
invite-by = de { $name }
invite-by-operator = del operador
invite-used = { $uses ->
    [0] sin usar
    [one] usado una vez
   *[other] usado { $uses } veces
}
invite-used-of = usado { $uses } de { $most } veces
invite-with-approval = con aprobación
invite-until = hasta
invite-joined-show = Quién vino
invite-joined = Llegaron con él: { $names }
invite-joined-none = Ya no queda aquí nadie que llegara con él.
revoke = Revocar
revoke-invite = Revocar { $code }
revoke-title = ¿Revocar este enlace?
revoke-text = Nadie más podrá unirse con él. Los miembros que llegaron con él se quedan.
applications = Esperando a entrar
application-approve = Dejar entrar
application-refuse = Rechazar
