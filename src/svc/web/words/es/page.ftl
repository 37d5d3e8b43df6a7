# The texts in the page, grouped by view. Placeholders are in braces.

close = Cerrar
cancel = Cancelar
save = Guardar
saved = Guardado.
unsaved-changes = Cambios sin guardar
discard = Descartar
show = Mostrar
edit = Editar
delete = Eliminar
dismiss = Descartar
more = Más
loading = Cargando…
connecting = Conectando…
try-again = Reintentar
nothing-found = No se encontró nada.
today = Hoy
yesterday = Ayer
somebody = Alguien
others = { $count ->
    [one] una persona más
   *[other] { $count } personas más
}
fault-title = Algo ha fallado en esta página
fault-text = Lo que has escrito se conserva. Inténtalo de nuevo; si no funciona, vuelve a cargar la página.

## Channels

this-server = Este servidor
server-settings = Ajustes del servidor
channels = Canales
show-channels = Mostrar los canales
text-channels = Texto
voice-channels = Voz
voice-channel = canal de voz
unread-count = { $count } sin leer
mention-count = { $count ->
    [one] 1 mención
   *[other] { $count } menciones
}
people-in = Personas en { $channel }
no-channels = Aquí no hay ningún canal que puedas ver.
offline-text = Ahora mismo no se puede contactar con el servidor. Se seguirá intentando.
reconnecting = Reconectando…
crowded = Tienes demasiadas páginas abiertas y esta era la más antigua. Vuelve a cargarla para seguir aquí.
switcher-open = Ir a…
switcher-keys = Ctrl K
switcher-title = Ir a
switcher-field = Canal o persona

## Messages

messages = Mensajes
beginning = Este es el principio de { $channel }.
empty-channel = Nadie ha escrito todavía en { $channel }. Di hola.
to-newest = Ir a lo más reciente
new-messages = Nuevos
message-of = Mensaje de { $name }
about = Acerca de { $name }
channel-more = Más sobre este canal
message-to = Mensaje a { $channel }
message-gone = Este mensaje ya no está.
channel-not-found = Este canal no existe o no puedes verlo.
go-to-message = Ir al mensaje
earlier-message = Un mensaje anterior
blocked-message = Has bloqueado a este miembro.
bot = Bot
mark-webhook = webhook
mark-edited = editado
mark-pinned = fijado
file-count = { $count ->
    [one] Un archivo
   *[other] { $count } archivos
}
typing = { $count ->
    [one] { $names } está escribiendo…
   *[other] { $names } están escribiendo…
}
many-typing = Varias personas están escribiendo…
react = Reaccionar
react-with = Reaccionar con
react-with-sign = Reaccionar con { $sign }
reactions = Reacciones
no-reactions = Nadie ha reaccionado todavía.
reaction-count = { $count ->
    [one] 1 persona
   *[other] { $count } personas
}
reply = Responder
forward = Reenviar
pin = Fijar
unpin = Dejar de fijar
copy-text = Copiar el texto
select-text = Seleccionar texto
copy-id = Copiar el ID
copy-link = Copiar un enlace al mensaje
copied = Copiado.
link-copied = Enlace copiado.
copy-failed = El navegador no deja que la página copie.
edit-message = Editar el mensaje
delete-message-title = ¿Eliminar este mensaje?
delete-message-text = Desaparecerá para todo el mundo.
delete-message = Eliminar el mensaje
pins = Mensajes fijados
no-pins = Todavía no hay nada fijado aquí.
search = Buscar
search-field = Buscar mensajes
searching = Buscando…
search-count = { $more ->
    [yes] Los { $count } mensajes más recientes
   *[other] { $count ->
        [one] Un mensaje
       *[other] { $count } mensajes
    }
}
search-nothing = No se encontraron mensajes. Prueba con otras palabras o con menos.
search-more = Mostrar más antiguos
search-filter-values = Valores para este filtro
search-kind-unknown = «{ $value }» no funciona con «{ $filter }:». Puedes usar { $kinds }.
search-day-unknown = «{ $value }» no es una fecha. Escríbela así: 2026-01-31.
search-day-excluded = «{ $filter }:» no se puede excluir. Usa «{ $other }:» en su lugar.
# Single words without spaces: the names and values of the filters in the search field.
search-from = de
search-in = en
search-has = tiene
search-before = antes
search-after = después
search-has-link = enlace
search-has-image = imagen
search-has-video = vídeo
search-has-audio = audio
search-has-file = archivo
search-has-card = tarjeta
search-has-pin = fijado
search-has-reaction = reacción
jump-to-date = Ir a una fecha
date = Fecha
jump-hint = Irás al primer mensaje desde el comienzo de ese día.
jump = Ir
date-missing = Elige una fecha.

## Composer

send = Enviar
attach = Adjuntar archivos
files = Archivos
read-only = Aquí puedes leer, pero no escribir.
in-timeout-until = Estás en aislamiento temporal hasta { $time }.
may-not-attach = Aquí no puedes adjuntar archivos.
too-many-files = En un mensaje caben diez archivos.
files-on-their-way = Tu mensaje se enviará en cuanto se suban los archivos.
replying-to = Respuesta a { $name }
cancel-reply = No responder
ping = Avisar
upload-sending = Enviando
upload-waits = Se ha perdido la conexión. Continuará por sí solo.
upload-checking = Revisando
upload-done = Listo
upload-cut-off = Se perdió la conexión.
remove-file = Quitar { $name }
not-sent = No se ha enviado. { $reason }
edit-unsent = Modificarlo
sent-when-back = Se enviará cuando vuelva la conexión.

## People

people = Personas
members = Miembros
members-count = Miembros · { $count }
find-member = Buscar un miembro
here-now = En línea
away = Desconectados
profile = Perfil
member-unknown = Ya no es miembro de este servidor.
is-online = En línea
is-away = Desconectado
in-timeout = En aislamiento temporal: solo puede leer.
joined-on = Miembro desde: { $date }
roles = Roles
role-owner = Propietario
role-admin = Administradores
role-moderator = Moderadores
role-member = Miembros
role-guest = Invitados
mention = Mencionar a { $name }
block = Bloquear a { $name }
unblock = Desbloquear a { $name }

## Calls

call-none = Sin llamada
call-joining = Conectando…
call-connected = En llamada
call-ringing = Llamando…
call-reconnecting = Reconectando…
call-replaced = Te has unido desde otra pestaña u otro dispositivo.
call-removed = Te han sacado de la sala.
call-controls = Controles de la llamada
your-call = Tu llamada
people-in-call = { $count ->
    [one] 1 persona
   *[other] { $count } personas
}
people-in-room = Personas en la sala
alone-in-call = De momento solo estás tú. Los demás te ven en la lista de canales y pueden unirse.
are-here = { $count ->
    [one] { $names } está aquí.
   *[other] { $names } están aquí.
}
nobody-here = Todavía no hay nadie aquí.
join-call = Unirse a la llamada
join-options = Unirse con…
join-with = Unirse a { $channel } con…
may-not-join = Aquí no puedes unirte a llamadas.
with-mic = Micrófono
with-camera = Cámara
mute = Silenciar
unmute = Dejar de silenciar
deafen = Ensordecer
undeafen = Dejar de ensordecer
muted = silenciado
muted-by-moderator = silenciado por un moderador
deafened = ensordecido
deafened-by-moderator = ensordecido por un moderador
start-camera = Activar cámara
stop-camera = Desactivar cámara
share-screen = Compartir pantalla
stop-sharing = Dejar de compartir
leave-call = Salir
name-you = { $name } (tú)
your-screen = Tu pantalla
screen-of = Pantalla de { $name }
sound-blocked = Tu navegador está bloqueando el sonido. Pulsa aquí para escuchar.

## Settings

settings = Ajustes
settings-all = Todos los ajustes
settings-pages = Páginas de los ajustes
settings-find = Encontrar un ajuste
settings-group-own = Tu cuenta
settings-group-community = Comunidad
settings-group-moderation = Moderación
settings-group-system = Sistema
settings-profile = Perfil
settings-look = Apariencia e idioma
settings-identity = Cerrar sesión
your-status = Estado
choose-picture = Elegir una imagen
remove-picture = Quitar la imagen
picture-checked = La imagen se mostrará cuando el servidor la haya revisado.
theme = Tema
theme-system = Según el sistema
theme-light = Claro
theme-dark = Oscuro
motion = Movimiento
motion-system = Según el sistema
motion-reduced = Reducido
density = Mensajes
density-cosy = Espaciados
density-compact = Compactos
text-size = Tamaño del texto
language = Idioma
language-browser = Según el navegador
sign-out = Cerrar sesión
sign-out-title = ¿Cerrar sesión?
change-identity = Usar otro nombre
give-up-identity-title = ¿Renunciar a quien eres aquí?
give-up-identity-text = La clave de este navegador se destruye. Si no has vinculado otro dispositivo, nadie podrá volver a entrar con tu identidad, ni siquiera tú. Tus mensajes se quedan.
shortcuts = Atajos de teclado
shortcut-send = Enviar
shortcut-new-line = Nueva línea
shortcut-edit-last = Editar tu último mensaje
shortcut-read = Cerrar lo que está al lado, o marcar el canal como leído e ir al mensaje más reciente
shortcut-switcher = Ir a un canal o a una persona
shortcut-search = Buscar
shortcut-sheet = Estos atajos
shortcut-previous = El canal de arriba
shortcut-next = El canal de abajo
shortcut-next-unread = El siguiente canal con algo sin leer
shortcut-previous-unread = El canal anterior con algo sin leer
shortcut-settings = Abrir los ajustes
shortcut-page = Mensajes anteriores, mientras escribes
shortcut-all-read = Marcar todo como leído
shortcut-mute = Silenciar o dejar de silenciar
shortcut-deafen = Ensordecer o dejar de ensordecer
shortcut-camera = Activar o desactivar la cámara

slow-mode-here = Modo lento: después de cada mensaje esperas { $time }.
