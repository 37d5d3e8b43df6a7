## Devices

device-microphone = micrófono
device-camera = cámara
device-screen = pantalla
device-loudspeaker = altavoz
device-refused = El navegador no tiene permiso para usar tu { $device }. Dáselo junto a la dirección e inténtalo de nuevo.
device-none = No hay { $device } disponible en este dispositivo.
device-busy = Otro programa está usando tu { $device }.
device-insecure = Los navegadores solo dan acceso a tu { $device } en direcciones HTTPS. Pide una a quien administra el servidor.
device-failed = No se pudo acceder a tu { $device }: { $message }
device-vanished = Se perdió la conexión con tu { $device }. Si hay otro dispositivo, se usará ese.
device-missing = El dispositivo que elegiste no está conectado ({ $device }). Se usa otro.
device-usual = Según el navegador
device-number = Dispositivo { $number }
choose-microphone = Micrófono
choose-camera = Cámara
choose-speaker = Altavoz
no-speaker-choice = Este navegador usa el altavoz que ha elegido el sistema.
level = Nivel
test-sound = Reproducir un sonido de prueba
settings-voice = Voz y vídeo
input = Cuándo se te oye
input-voice = Mientras hablas
input-voice-hint = Lo que quede por debajo del umbral no se envía.
input-push = Mientras mantienes pulsada una tecla
input-push-hint = Funciona cuando esta página tiene el teclado y no estás escribiendo.
threshold = Umbral
threshold-hint = Al mínimo: se envía todo.
push-key = Tecla para hablar: { $key }
press-a-key = Pulsa la tecla
release = Milisegundos que se te sigue oyendo al soltarla
noise = Ruido a tu alrededor
noise-off = Dejarlo como está
noise-off-hint = No se elimina nada.
noise-usual = Reducirlo
noise-usual-hint = Como lo hace tu navegador.
noise-strong = Reducirlo mucho
noise-strong-hint = También elimina teclados y ventiladores. Consume algo de procesador.
echo = Cancelar el eco
gain = Igualar el volumen de mi voz
music = Música
music-hint = Estéreo a 128 kbit/s, sin ningún filtro. Para instrumentos, no para salas con altavoces.
mirror = Mostrarme mi propia imagen en espejo
blur = Desenfocar mi fondo
blur-hint = Si tu cámara lo ofrece. Usa algo de procesador.
blur-never = Este navegador no puede desenfocar tu fondo. Quizá puedan los ajustes de cámara de tu sistema.
blur-not-here = Tu cámara no ofrece desenfocar el fondo.

## Layout

in-focus = En primer plano
call-menu = Más opciones de la llamada
other-camera = Cambiar de cámara
layout-grid = Todos iguales
layout-speaker = Quien habla, en grande
only-sound = Solo sonido
show-pictures = Mostrar vídeo
screen-options = Opciones para compartir
screen-kind = Qué compartes
screen-text = Texto: nítido
screen-motion = Movimiento: fluido
screen-size = Tamaño y frecuencia
screen-size-automatic = Automático: el tamaño de la pantalla
screen-size-option = { $height }p, { $fps } imágenes/s, hasta { $mbps } Mbit/s
screen-size-hint = Los demás reciben menos si su línea o la tuya admite menos.
pop-out = En una ventana aparte
pin-tile = Fijar { $name }
unpin-tile = Dejar de fijar { $name }
full-screen-of = { $name } a pantalla completa
person-options = Volumen y calidad de { $name }
volume = Volumen
screen-volume = Volumen de su pantalla
mute-for-me = Silenciar para mí
muted-for-me = silenciado para ti

## Quality

quality = Calidad de la llamada
quality-of-picture = Su vídeo
quality-of-pictures = Vídeo de los demás
quality-usual = Como en los ajustes
quality-automatic = Automática
quality-automatic-hint = Imágenes más pequeñas, menos o ninguna cuando la conexión es lenta, para que oigas a todos.
quality-high = Completa
quality-high-hint = Todas las imágenes, aunque se resienta el sonido.
quality-low = La mitad
quality-low-hint = Una de cada dos imágenes.
quality-saver = Ahorro
quality-saver-hint = Una cuarta parte de las imágenes.
less-data = Gastar menos datos
less-data-hint = Para conexiones con datos limitados: imágenes pequeñas y menos, en ambos sentidos. Las voces y el texto de las pantallas compartidas no cambian.
round-trip = Ida y vuelta
loss = Pérdida
rate = Tasa
path = Ruta
path-udp = UDP, directa
path-tcp = TCP
path-relay = a través de un relé
path-unknown = desconocida
pictures-of-others = Vídeo de los demás
layers-wish = lo pedido
layers-line = reducido por tu conexión
layers-paused = algunas en pausa
downlink = Conexión hacia ti
downlink-rate = { $reason ->
    [use] { NUMBER($kbps) } kbit/s, sin probar más
    [loss] { NUMBER($kbps) } kbit/s, se pierden paquetes
   *[other] { NUMBER($kbps) } kbit/s
}
picture-now = Ahora
picture-paused = en pausa
picture-size = { $layer ->
    [0] pequeño
    [1] mediano
   *[other] tamaño completo
}
picture-reason = { $reason ->
    [line] tu conexión no da para más
    [hidden] no lo ves
   *[source] no se envía más
}
layers-asked = { $layer ->
    [0] una de cada cuatro imágenes
    [1] una de cada dos imágenes
   *[other] todas las imágenes
}
sent-by-me = Lo que envío
received = Lo que recibo
source-mic = micrófono
source-camera = cámara
source-screen = pantalla
source-screen_audio = sonido de la pantalla
source-unknown = desconocido
ms = { NUMBER($ms) } ms
rate-kbps = { NUMBER($kbps) } kbit/s
fps = { NUMBER($fps) } imágenes/s
lost = { $share } perdido
jitter = fluctuación { NUMBER($ms) } ms
concealed = { $share } reconstruido
at-most = máximo: { $value }
copy-report = Copiar un informe

## Hands, reactions and screens

call-text = Chat de la llamada
raise-hand = Levantar la mano
audience = Público { $count }
invite-to-speak = Invitar a hablar
to-audience = Mover al público
stage-empty = Todavía no habla nadie.
lower-hand = Bajar la mano
lower-hand-of = Bajar la mano de { $name }
hand-lowered = Un moderador ha bajado tu mano. Puedes volver a levantarla.
may-speak = Ya puedes hablar. Activa el micrófono cuando quieras.
raised-hands = Manos levantadas
hand-raised = mano levantada
shortcut-hand = Levantar o bajar la mano
watch = Ver
stop-watching = Dejar de ver { $name }
withheld = { $reason ->
    [codec] Este navegador no puede mostrar esta imagen.
   *[no_line] Hay demasiadas imágenes en esta llamada. Esta llegará cuando termine otra.
}
paused-slow = En pausa: tu conexión es lenta
withheld-sound = { $reason ->
    [codec] Este navegador no puede reproducir su voz.
   *[no_line] Hay demasiadas voces en esta llamada. Oirás esta cuando termine otra.
}
stop-screen-of = Detener la pantalla de { $name }
stop-screen = Detener su pantalla
screen-stopped = Un moderador ha detenido tu pantalla. Para compartirla de nuevo, sal de la llamada y vuelve a entrar.
zoom-label = { $name }: más y menos acercan y alejan, las flechas mueven, 0 muestra todo
zoom-reset = { $percent } % · mostrar todo

## Why a call does not connect

trouble-offline = Este dispositivo no tiene red. La llamada seguirá en cuanto la tenga.
trouble-server = El servidor no responde. Comprueba tu red; la llamada seguirá en cuanto el servidor responda.
trouble-voice = El servidor no alcanza su servicio de medios, así que ahora no hay llamadas. Avisa a quien lo administra; la tuya seguirá sola.
trouble-signalling = El servidor responde, pero su línea para llamadas no se abre. Puede que un proxy o una extensión del navegador bloquee los WebSockets.
trouble-encryption = Se llega al servicio de medios, pero algo en el camino altera lo que se envía. Prueba otra red o desactiva tu VPN.
trouble-lost = Se ha perdido la línea de la llamada. Se volverá a intentar hasta que funcione.
trouble-path = { $ways ->
    [udp] Esta red no deja pasar UDP al puerto { $port } del servidor.
   *[both] Esta red no deja pasar ni UDP ni TCP al puerto { $port } del servidor.
}
trouble-relay = { $relay ->
    [refused] El relé rechaza la contraseña del servidor: avisa a quien administra el servidor.
    [silent] Tampoco se llega al relé.
   *[useless] El relé responde, pero no lleva a ninguna parte: avisa a quien administra el servidor.
}
trouble-elsewhere = Prueba otra red, como la de tu teléfono, o una VPN.

## Features this browser lacks

call-never = Este navegador no puede participar en llamadas. Usa una versión reciente de Chrome, Edge, Firefox o Safari. Si el modo de aislamiento está activado, excluye esta página.
screen-never = Este navegador no puede compartir la pantalla. Los navegadores de ordenador sí.
screen-insecure = Los navegadores solo comparten la pantalla en direcciones HTTPS. Pídele una a tu anfitrión.
screen-silent = La pantalla se comparte sin sonido: si no, cada persona se oiría a sí misma. Comparte una pestaña para compartir su sonido.
pop-out-never = Este navegador no tiene ventanas que queden por encima de otras. Chrome y Edge en ordenadores las tienen.
pop-out-nothing = Nadie muestra una imagen que pueda estar en una ventana aparte.

## Calls in encrypted channels

channel-encrypted = cifrado
call-encrypted = Esta llamada está cifrada
call-encrypted-text = Solo los dispositivos de esta llamada pueden oírla y verla. El servidor la transmite sin tener la clave. Sí ve quién está aquí y quién habla. Lo que se escribe junto a la llamada no está cifrado.
call-encrypted-who = { $count ->
    [one] Un dispositivo tiene las claves, de { $names }.
   *[other] { $count } dispositivos tienen las claves, de { $names }.
  }
call-encrypted-alone = Todavía no hay nadie más aquí, así que no hay claves.
call-encrypted-number = Comparad este número en la llamada. Si todos leéis el mismo y sois { $count }, nadie más puede escuchar. Cambia cuando alguien entra o sale.
call-encrypted-uninvited = Un dispositivo de { $names } tiene las claves de esta llamada y no aparece en ella. Quizá alguien esté escuchando.
call-encrypted-hint = Aquí las llamadas están cifradas: solo quienes participan pueden oírlas y verlas.
call-encrypted-off = Este canal ya no está cifrado, así que has salido de su llamada.
