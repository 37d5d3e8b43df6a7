# Server operation: bots, storage and backups.

settings-bots = Bots
bots-about = Un bot es un miembro que es un programa. En vez de iniciar sesión muestra su token, y puede hacer lo que sus roles permiten.
no-bots = Todavía no hay ningún bot.
bot-name = Nombre del bot
create-bot = Crear un bot
bot-token-of = El token de { $name }
bot-token-once = Solo se muestra esta vez; el servidor no lo guarda. Guárdalo como una contraseña: quien tenga el token puede hacer lo que puede el bot.
bot-token-label = Token
bot-token-kept = Ya lo he guardado
bot-token-made = token creado por { $name }, { $date }
bot-no-token = sin token
bot-token = Crear otro token
bot-token-title = ¿Crear otro token para { $name }?
bot-token-text = El anterior deja de funcionar de inmediato.
bot-delete = Eliminar el bot
bot-delete-title = ¿Eliminar el bot { $name }?
bot-delete-text = Su token deja de funcionar de inmediato. Sus mensajes se quedan.
bot-deleted = { $name } se ha eliminado.
settings-storage = Almacenamiento
storage-used = Los archivos ocupan { $used } de { $limit }.
storage-beside = La base de datos ocupa { $database }. En el disco quedan libres { $free }.
storage-by-kind = Según su uso
storage-by-member = Por miembro
storage-of-one = Cada miembro puede guardar { $limit }.
storage-empty = Todavía no hay nada guardado.
storage-files = { $count ->
    [one] 1 archivo
   *[other] { $count } archivos
}
storage-others = Todos los demás
storage-kind-message = Mensajes
storage-kind-member = Imágenes de miembros
storage-kind-webhook = Imágenes de webhooks
storage-kind-emoji = Emojis
storage-kind-draft = Borradores
storage-kind-job = En proceso
storage-kind-server = Icono del servidor
storage-kind-private = Archivos de conversaciones privadas
storage-kind-unused = Ya sin uso, se eliminará pronto
retention-forever = Tanto como sus mensajes
retention-days = Durante { $time }
retention-title = ¿Eliminar los adjuntos de hace más de { $time }?
retention-text = El servidor empieza de inmediato y sigue cada día. Lo eliminado no se puede recuperar.
retention-do = Eliminarlos
settings-backups = Copias de seguridad
backups-about = Una copia de seguridad lo contiene todo: mensajes, archivos, miembros y todos los secretos del servidor. Descárgala y guárdala donde nadie más pueda leerla. El servidor conserva cinco.
no-backups = No hay ninguna copia en el servidor.
backup-make = Crear una copia
backup-making = Se está creando una copia. Mientras tanto puedes seguir.
backup-download = Descargar
backup-delete = Eliminar
backup-delete-title = ¿Eliminar esta copia?
backup-delete-text = No se puede recuperar. Las que hayas descargado se quedan.
backups-restore = Una copia se restaura en el equipo donde funciona el servidor: svc admin restore.
