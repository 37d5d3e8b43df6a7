## Several servers in one window

settings-servers = Servidores
servers-manage = Añadir o quitar servidores
servers-text = Tus otros servidores aparecen al borde de esta página, con sus mensajes sin leer. Solo este navegador guarda la lista: ningún servidor la recibe.
servers-address = Dirección, invitación o enlace de servidor
servers-address-hint = El enlace de servidor de otro servidor está en sus ajustes, en Servidores. Con él ves aquí los mensajes sin leer y las menciones.
servers-add = Añadir
servers-no-address = Esta no es la dirección de un servidor.
servers-this = Este es el servidor en el que estás.
servers-without-counts = sin mensajes sin leer, porque falta su enlace de servidor
servers-unreachable = no responde, o su enlace de servidor fue revocado
servers-more = Más sobre { $name }
servers-up = Subir
servers-down = Bajar
servers-remove = Quitar
servers-own = Mostrar este servidor en otros
servers-own-text = Con este enlace, la página de otro servidor muestra cuántos mensajes sin leer y menciones tienes aquí. Muestra estos números y nada más.
servers-make-link = Crear un enlace de servidor
servers-link = Tu enlace de servidor
servers-link-warning = Pégalo en otro servidor, en Ajustes, Servidores. Quien lo tenga puede ver tus números.
servers-renew-link = Crear un enlace nuevo
servers-revoke-link = Revocar el enlace
servers-copy = La misma lista en otro servidor
servers-copy-text = Pega esta lista allí en el mismo campo. La página de ese servidor podrá leerla, así que hazlo solo en servidores en los que confíes.
servers-copy-all = Copiar la lista
servers-mentions = { $count ->
    [one] 1 mención
   *[other] { $count } menciones
}
servers-unread = { $count ->
    [one] 1 mensaje sin leer
   *[other] { $count } mensajes sin leer
}

link-accounts = Cuentas vinculadas
link-accounts-text = Muestra en tu perfil que también eres miembro de otro servidor. Las páginas de ambos servidores te preguntan antes. Cada una firma con su propia clave, así que nadie más puede hacerse pasar por ti.
link-choose = Vincular una cuenta
link-no-servers = Añade primero el otro servidor arriba.
link-title = Vincular tus cuentas
link-start = Tu perfil aquí puede mostrar que también eres miembro de { $host }. Ahora se abre la página de ese servidor y te pide que lo confirmes.
link-start-note = La página de { $host } sabrá qué cuenta tienes aquí. Tu perfil no muestra nada hasta que estés de acuerdo.
link-continue = Continuar allí
link-request-title = ¿Es tuya la cuenta en { $host }?
link-request = { $host } te pide que confirmes que tu cuenta allí y tu cuenta aquí son de la misma persona.
link-request-note = Confírmalo solo si acabas de empezarlo tú en { $host }. La página de allí sabrá qué cuenta tienes aquí. El servidor en el que estás no sabrá nada de { $host }.
link-confirm = Sí, las dos son mías
link-show-title = ¿Mostrar la cuenta en tu perfil?
link-show = { $host } ha confirmado tu cuenta. Tu perfil aquí ya puede mostrarla a todos en este servidor.
link-show-note = Este servidor sabrá entonces que eres miembro de { $host }. Puedes quitar la cuenta en cualquier momento y retirar allí la confirmación.
link-show-action = Mostrar en mi perfil
link-done-title = Tus cuentas están vinculadas
link-done = Tu perfil aquí muestra ahora { $host }.
link-both = ¿Debe mostrar tu perfil en { $host } también este servidor? Su página te pregunta antes.
link-both-action = Preguntar allí
link-unknown = { $host } pregunta por una cuenta vinculada, pero no es uno de tus servidores aquí. Añádelo en los ajustes, en Servidores, y empieza de nuevo.
link-expired = Esta solicitud es demasiado antigua. Empieza de nuevo en { $host }.
link-invalid = Esta solicitud de una cuenta vinculada no es válida. Empieza de nuevo en el servidor donde comenzaste.
link-also = También en { $host }
link-unchecked = Aún sin comprobar
link-verify = Comprobar en { $host }
link-verify-short = Comprobar
link-verify-hint = { $host } sabrá entonces que has mirado esta cuenta
link-verified = Verificado: la misma persona que { $name }
link-not-confirmed = No confirmada allí, o ya no
link-no-response = No responde, o tu enlace de servidor fue revocado
link-unverified = Solo los miembros de ambos servidores pueden comprobarlo
link-remove = Quitar { $host } del perfil
link-since = En tu perfil desde el { $date }
link-confirmations = Tus confirmaciones
link-confirmations-text = Has confirmado a estos servidores que tienes una cuenta aquí. Cuando retiras una confirmación, nadie puede comprobar ya la cuenta.
link-another-server = Otro servidor
link-confirmed-on = Confirmado el { $date }
link-withdraw = Retirar la confirmación para { $host }
link-withdraw-short = Retirar
