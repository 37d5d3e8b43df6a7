# The server's health, and whether others can reach its URL.

settings-health = Estado
health-ok = Todo bien
health-notice = Aviso
health-problem = Problema
health-is-database-sound = Todo lo que se escribe se conserva.
health-is-database-not-kept = Lo que se escribe no se conserva, o la base de datos está dañada.
health-do-database-not-kept = Revisa el disco y el registro del servidor. Guarda tus copias de seguridad y restaura la más reciente si la base de datos está dañada.
health-is-disk-roomy = En el disco quedan libres { $free }.
health-is-disk-filling = En el disco quedan libres { $free }.
health-do-disk-filling = Los archivos y las copias lo llenarán. Vigílalo o haz sitio.
health-is-disk-full = En el disco solo quedan libres { $free }.
health-do-disk-full = Haz sitio: con el disco lleno, el servidor rechaza todos los mensajes.
health-is-clock-kept = El reloj del equipo está en hora.
health-is-clock-unknown = Aquí no se puede comprobar si el reloj está en hora.
health-is-clock-adrift = Nada mantiene en hora el reloj del equipo.
health-do-clock-adrift = Activa la sincronización de la hora (timedatectl set-ntp true): las sesiones caducan según el reloj.
health-is-files-ample = El equipo deja al servidor abrir suficientes archivos.
health-is-files-few = El equipo deja al servidor abrir pocos archivos a la vez; cada página abierta necesita uno.
health-do-files-few = Sube el límite a 4096 o más (ulimit -n, o LimitNOFILE= en la unidad).
health-is-buffers-ample = Los búferes del equipo son lo bastante grandes.
health-is-buffers-small = Los búferes del equipo son pequeños: con mucho vídeo, las llamadas pierden paquetes.
health-do-buffers-small = Sube net.core.rmem_max y net.core.wmem_max; svc doctor muestra las órdenes.
health-is-joining-possible = Se puede entrar.
health-is-joining-impossible = Nadie puede entrar: el servidor no acepta ninguna identidad que pueda comprobar.
health-do-joining-impossible = Quien lo administra añade local a SVC_IDENTITY_TIERS, o define SVC_OIDC_ISSUER.
health-is-address-reachable = El servidor, o un proxy delante, atiende a los demás.
health-is-address-only-here = El servidor solo escucha en su propio equipo.
health-do-address-only-here = Inícialo con --host 0.0.0.0 --tls, o pon delante un proxy con certificado y define SVC_TRUSTED_PROXY_HOPS.
health-is-address-insecure = El servidor no tiene certificado, así que los navegadores no dejan a nadie más iniciar sesión ni hablar.
health-do-address-insecure = Inícialo con --tls, o pon delante un proxy con certificado y define SVC_TRUSTED_PROXY_HOPS.
health-is-voice-connected = Las llamadas funcionan: el servicio de medios está conectado.
health-is-voice-none = Este servidor no tiene servicio de medios, así que no hay llamadas.
health-do-voice-none = svc up inicia uno; si no, quien lo administra define SFU_WS_HOST.
health-is-voice-unreachable = No se llega al servicio de medios: nadie puede entrar en una llamada.
health-do-voice-unreachable = Comprueba si svc sfu funciona y qué registra.
health-is-uploads-working = Los archivos se procesan.
health-is-uploads-off = Este servidor no acepta archivos.
health-do-uploads-off = Quien lo administra define STORAGE_BACKEND.
health-is-uploads-no-worker = { $count ->
    [0] Ningún proceso de medios pide trabajo.
    [one] 1 archivo espera, y ningún proceso de medios pide trabajo.
   *[other] { $count } archivos esperan, y ningún proceso de medios pide trabajo.
}
health-do-uploads-no-worker = Inicia svc worker con el mismo DATA_DIR; svc up lo hace.
health-is-backups-recent = En el servidor hay una copia de los últimos 30 días.
health-is-backups-old = La copia más reciente del servidor tiene más de 30 días.
health-do-backups-old = Crea una y guarda una copia en otro lugar.
health-is-backups-none = En el servidor no hay ninguna copia de seguridad.
health-do-backups-none = Crea una y guarda una copia en otro lugar.
health-doctor = svc doctor, en el equipo del servidor, mira también los puertos y la dirección desde fuera, que el servidor no puede ver por sí mismo.
health-again = Mirar de nuevo
health-versions = Versiones
health-since = En marcha desde
health-connected = { $count ->
    [one] 1 miembro conectado
   *[other] { $count } miembros conectados
}
health-in-calls = { $count ->
    [0] No hay nadie en una llamada.
    [one] 1 conexión a una llamada.
   *[other] { $count } conexiones a llamadas.
}
health-pages = { $count ->
    [one] 1 página abierta
   *[other] { $count } páginas abiertas
}

## Whether others can reach the URL

reach-only-here = Solo este equipo puede abrir { $address }.
reach-only-here-do = Sus enlaces no sirven a nadie más. Inicia el servidor con --host 0.0.0.0 --tls, o dale un nombre con certificado, y abre la página allí.
reach-no-tls = Los navegadores no dejan iniciar sesión en { $address }: no es https.
reach-no-tls-do = Inicia el servidor con --tls, o pon delante un proxy con certificado, y abre la página en su dirección https://.
reach-nearby = { $address } solo funciona en tu propia red.
reach-nearby-do = Para gente de fuera el servidor necesita un nombre público: abre la página allí antes de crear enlaces.
