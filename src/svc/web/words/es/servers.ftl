## Varios servidores en una ventana

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
