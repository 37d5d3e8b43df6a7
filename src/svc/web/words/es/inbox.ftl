inbox = Menciones
inbox-empty = Nadie te ha mencionado todavía. Aquí aparecen los mensajes que te nombran a ti, a uno de tus roles o a todos, y las respuestas a ti.
inbox-new = Nuevo
inbox-read = Marcar todo como leído
shortcut-inbox = Lo que te menciona
