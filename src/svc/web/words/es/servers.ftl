## Varios servidores en una ventana

settings-servers = Servidores
servers-manage = Añadir o quitar servidores
servers-text = Tus otros servidores aparecen al borde de esta página, con sus mensajes sin leer. Solo este navegador guarda la lista: ningún servidor la recibe.
servers-address = Dirección, invitación o enlace de barra
servers-address-hint = El enlace de barra de otro servidor está en sus ajustes, en Servidores. Con él ves aquí los mensajes sin leer y las menciones.
servers-add = Añadir
servers-no-address = Esta no es la dirección de un servidor.
servers-this = Este es el servidor en el que estás.
servers-without-counts = sin mensajes sin leer, porque falta su enlace de barra
servers-unreachable = no responde, o su enlace de barra fue revocado
servers-up = Subir { $name }
servers-down = Bajar { $name }
servers-remove = Quitar { $name }
servers-own = Mostrar este servidor en otros
servers-own-text = Con este enlace, la página de otro servidor muestra cuántos mensajes sin leer y menciones tienes aquí. Muestra estos números y nada más.
servers-make-link = Crear un enlace de barra
servers-link = Tu enlace de barra
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
