markdown-table = Tableau
markdown-spoiler = Spoiler. Afficher
markdown-copy = Copier
markdown-copied = Copié
