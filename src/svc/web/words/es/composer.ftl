completion = Sugerencias
completion-role = rol
completion-group = grupo
emoji-choose = Elegir un emoji
emoji-more = Todos los emojis
drop-here = Suelta archivos para adjuntarlos
describe-file = Describir { $name }
description = Descripción
description-hint = Qué se ve, para quienes no pueden verlo.
file-gone = Este archivo ya no está.
picture-of = { $at } de { $count }
picture-before = Imagen anterior
picture-after = Imagen siguiente
open-file = Abrir en otra pestaña
formatting = Formato
format-bold = Negrita
format-italic = Cursiva
format-underline = Subrayado
format-code = Código
format-strike = Tachado
format-spoiler = Oculto hasta pulsarlo
news-count = { $count ->
    [one] 1 mensaje nuevo
   *[other] { NUMBER($count) } mensajes nuevos
}
pasted-as-file = El texto es demasiado largo para un mensaje, por eso se adjunta como archivo.
too-long = El texto es demasiado largo para un mensaje de 4000 caracteres.
characters-left = { $count ->
    [one] queda 1 carácter
   *[other] quedan { $count } caracteres
}
emoticons = Convertir emoticonos en emojis
emoticons-hint = Lo que escribes como :) se envía como 🙂. Retroceso justo después lo deshace.
command-shrug = ¯\_(ツ)_/¯ al final de tu mensaje
command-tableflip = (╯°□°)╯︵ ┻━┻ al final de tu mensaje
command-unflip = ┬─┬ノ( º _ ºノ) al final de tu mensaje
command-spoiler = Enviar el texto oculto hasta que lo pulsen
command-nick = Cambiar tu nombre aquí
command-status = Cambiar tu estado; sin texto, borrarlo
slow-mode-left = Modo lento: puedes volver a escribir en { $time }.
spoiler = Spoiler
spoiler-cover = Spoiler: { $kind ->
    [picture] una imagen
    [video] un vídeo
    [audio] un sonido
   *[file] un archivo
}. Mostrar
spoiler-mark = Spoiler: ocultar { $name } hasta que lo pulsen
voice-message = Mensaje de voz
voice-record = Grabar un mensaje de voz
recording = Grabando… { $time }
voice-attach = Adjuntar
