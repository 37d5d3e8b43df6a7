# Notifications: levels, mutes, sounds, notices and Web Push.

notifications = Notificaciones
notifications-muted = Notificaciones: silenciadas
channel-muted = silenciado
mark-read = Marcar como leído
mark-unread = Marcar como no leído
notify-about = Avisarme de
level-default = Como en todas partes ({ $level })
level-all = Todos los mensajes
level-mentions = Menciones
level-nothing = Nada
mute-for = Silenciar
mute-15-minutes = Durante 15 minutos
mute-1-hour = Durante 1 hora
mute-8-hours = Durante 8 horas
mute-24-hours = Durante 24 horas
mute-until-changed = Hasta que deje de silenciarlo
muted-until = Silenciado hasta { $time }
muted-for-good = Silenciado
unmute-channel = Dejar de silenciar

## Settings

settings-notifications = Notificaciones
level-of-all = Avisarme de (valor predeterminado para todos los canales)
mute-all = Silenciar todo
this-device = En este dispositivo
notices = Mostrar notificaciones mientras esta página esté abierta
notices-hint = Solo cuando no tengas la página a la vista.
notices-refused = Tu navegador no deja que esta página muestre notificaciones. Permítelas junto a la dirección y vuelve aquí.
push = Avisarme en este dispositivo aunque la página esté cerrada
push-off = El fabricante de tu navegador transmite los mensajes cifrados y no puede leerlos.
push-on = Activado. Recibirás avisos en este dispositivo cuando no tengas ninguna de tus páginas a la vista.
push-busy = Un momento…
push-insecure = Los navegadores solo lo permiten en direcciones https://. Pide la dirección https:// a quien administra este servidor.
push-install = En iPhone y iPad, primero añade esta página a la pantalla de inicio y después activa esta opción desde ahí.
push-unsupported = Este navegador no puede hacerlo. Otros sí: Firefox, Chrome, Edge y Safari.
push-refused = Tu navegador no deja que esta página te envíe avisos. Permite las notificaciones junto a la dirección y vuelve aquí.
push-failed = No se pudo contactar con el servicio de notificaciones de tu navegador, o está desactivado en sus ajustes. Inténtalo más tarde.
sounds = Sonidos
sound-message = Un mensaje
sound-mention = Una mención o una respuesta a ti
sound-join = Alguien se une a tu llamada
sound-leave = Alguien sale de tu llamada
sound-mute = Silencias o activas tu micrófono
listen = Escuchar
listen-to = Escuchar: { $sound }
