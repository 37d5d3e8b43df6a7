markdown-table = Tableau
markdown-spoiler = Spoiler. Afficher
markdown-copy = Copier
markdown-copied = Copié
markdown-to-do = À faire
markdown-done = Fait
link-to-message = #{ $channel } › message
