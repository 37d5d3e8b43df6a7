# Administration: shared texts, channels and permissions.

show-more = Mostrar más
type-its-name = Escribe «{ $name }» para continuar
pick-hint = Nombre de un rol o de una persona
pick-member-hint = Nombre de un miembro
remove-target = Quitar { $name }
role-gone = Un rol eliminado
menu-of = Más sobre { $name }
settings-of = Ajustes de { $name }
settings-channels = Canales
lasting-none = Sin espera
lasting-seconds = { $count ->
    [one] 1 segundo
   *[other] { $count } segundos
}
lasting-minutes = { $count ->
    [one] 1 minuto
   *[other] { $count } minutos
}
lasting-hours = { $count ->
    [one] 1 hora
   *[other] { $count } horas
}
lasting-days = { $count ->
    [one] 1 día
   *[other] { $count } días
}

## Channels

channels-about = Todos los canales, en el orden de la lista lateral.
channels-keys = Arrástralos en la lista, o pulsa Ctrl+Mayús+Flecha sobre uno.
create-channel = Crear un canal
create-text-channel = Crear un canal de texto
create-voice-channel = Crear un canal de voz
create-channel-in = Crear un canal en { $name }
channel-kind = Tipo
channel-text = Texto
channel-text-hint = Mensajes, imágenes y archivos
channel-voice = Voz
channel-voice-hint = Hablar, con cámaras y pantallas compartidas
channel-category = Categoría
channel-category-hint = Un título bajo el que se agrupan canales
channel-name-missing = Escribe un nombre.
channel-topic-hint = Para qué es el canal. Aparece en la parte superior.
no-category = Sin categoría
channel-private = Privado
channel-private-hint = Solo lo ven los roles y las personas que elijas. El propietario lo ve siempre.
channel-access-add = Quién lo ve
channel-access = Quienes lo ven
channel-access-empty = Nadie más todavía.
channel-settings = Ajustes de un canal
channel-gone = Este canal ya no existe.
channel-page-overview = Vista general
channel-page-permissions = Permisos
slow-mode-hint = Cuánto espera cada miembro antes de su siguiente mensaje. Los moderadores no esperan.
user-limit-hint = Cuántas personas caben en la llamada. 0 significa sin límite.
user-limit-of = { $count } de { $limit } plazas ocupadas
bitrate-usual = Automática
kbps = { $kbps } kbit/s
encrypt-calls-hint = Solo quienes participan en la llamada pueden oírla y verla; el servidor no tiene la clave. Hasta 25 personas. Puedes cambiarlo mientras no haya nadie en el canal.
channel-archive = Archivar el canal
channel-archive-text = Un canal archivado desaparece de la lista. Se puede seguir buscando en él y puedes recuperarlo.
channel-archived = Se ha archivado { $name }.
archived-channels = Canales archivados
bring-back = Recuperar
channel-delete = Eliminar
channel-delete-title = ¿Eliminar { $name }?
channel-delete-text = Se eliminarán también todos sus mensajes. No se podrán recuperar.
category-delete-text = Sus canales se quedan, sin categoría.
edit-channel = Ajustes del canal
edit-named = Editar { $name }
channel-permissions = Permisos
move-up = Subir
move-down = Bajar
move-up-named = Subir { $name }
move-down-named = Bajar { $name }
overrides = Qué pueden hacer aquí los roles y las personas
overrides-about = Si aquí no se elige nada, cada persona puede hacer lo que sus roles permiten en el servidor. Si aquí se permite a uno de sus roles, puede hacerlo; lo que se indique para la persona decide al final.
overrides-add = Ver como un rol o una persona
overrides-for = Roles y personas con permisos propios
overrides-of = Permisos de { $name } en este canal
override-allow = Permitir
override-deny = Denegar
override-neutral = Según sus roles
result-of-role = Visto como alguien que solo tiene el rol { $name }: cada línea termina con lo que puede hacer aquí.
result-of-person = Visto como { $name }, con todos sus roles: cada línea termina con lo que puede hacer aquí.
outcome-may = puede
outcome-may-not = no puede

## Permissions

permissions-text = Texto
permissions-voice = Voz
permissions-members = Miembros
permissions-server = Servidor
permission-view-channel = Ver el canal
permits-view-channel = Leer sus mensajes y ver quién habla en él.
permission-send-messages = Enviar mensajes
permits-send-messages = Escribir y cambiar lo que uno ha escrito.
permission-attach-files = Adjuntar archivos
permits-attach-files = Enviar imágenes, vídeos y otros archivos.
permission-add-reactions = Añadir reacciones
permits-add-reactions = Responder a un mensaje con un emoji.
permission-manage-messages = Gestionar mensajes
permits-manage-messages = Eliminar y fijar mensajes de otros, y escribir sin esperar en modo lento.
permission-mention-everyone = Mencionar a todos
permits-mention-everyone = Avisar a todo un rol, a todo el mundo o a todas las personas en línea.
permission-manage-webhooks = Gestionar webhooks
permits-manage-webhooks = Crear direcciones con las que los programas publican aquí.
permission-join-voice = Unirse a llamadas
permits-join-voice = Entrar en canales de voz y escuchar.
permission-speak = Hablar
permits-speak = Hacerse oír en las llamadas.
permission-share-video = Compartir la cámara
permits-share-video = Dejarse ver en las llamadas.
permission-share-screen = Compartir la pantalla
permits-share-screen = Mostrar una pantalla, una ventana o una pestaña en las llamadas.
permission-mute-members = Silenciar a miembros
permits-mute-members = Silenciar y ensordecer a otros en las llamadas.
permission-move-members = Mover a miembros
permits-move-members = Mover a otros a otra llamada o sacarlos de la suya.
permission-change-nickname = Cambiar el propio nombre
permits-change-nickname = Elegir el nombre y el estado propios.
permission-create-invites = Crear invitaciones
permits-create-invites = Crear enlaces con los que la gente se une.
permission-manage-invites = Gestionar invitaciones
permits-manage-invites = Ver y revocar las invitaciones de otros.
permission-manage-nicknames = Cambiar el nombre a miembros
permits-manage-nicknames = Cambiar el nombre de miembros con un rol inferior.
permission-timeout-members = Aislar temporalmente a miembros
permits-timeout-members = Hacer que miembros con un rol inferior solo puedan leer durante un tiempo.
permission-kick-members = Expulsar a miembros
permits-kick-members = Echar a miembros con un rol inferior. Pueden volver con una invitación.
permission-ban-members = Banear a miembros
permits-ban-members = Echar para siempre a miembros con un rol inferior y quitar baneos.
permission-view-reports = Ver denuncias
permits-view-reports = Leer lo que denuncian los miembros y lo que han hecho los moderadores.
permission-view-audit-log = Ver el registro de auditoría
permits-view-audit-log = Leer quién cambió qué en este servidor.
permission-manage-emoji = Gestionar emojis
permits-manage-emoji = Subir, renombrar y eliminar los emojis del servidor.
permission-manage-bots = Gestionar bots
permits-manage-bots = Crear bots y sus tokens, y eliminar los que estén por debajo del propio rol.
permission-manage-automod = Gestionar la moderación automática
permits-manage-automod = Crear, probar, cambiar y eliminar las reglas que examinan los mensajes.
permission-manage-channels = Gestionar canales
permits-manage-channels = Crear, cambiar, ordenar y eliminar canales.
permission-manage-roles = Gestionar roles
permits-manage-roles = Crear, cambiar, dar y quitar roles por debajo del propio.
