markdown-table = Tabla
markdown-spoiler = Spoiler. Mostrar
markdown-copy = Copiar
markdown-copied = Copiado
markdown-to-do = Por hacer
markdown-done = Hecho
link-to-message = #{ $channel } › mensaje
