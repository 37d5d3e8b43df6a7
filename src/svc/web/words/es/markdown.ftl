markdown-table = Tabla
markdown-spoiler = Spoiler. Mostrar
markdown-copy = Copiar
markdown-copied = Copiado
