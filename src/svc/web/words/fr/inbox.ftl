inbox = Mentions
inbox-empty = Personne ne t’a encore mentionné. Les messages qui te nomment, toi, un de tes rôles ou tout le monde, et les réponses qui te sont faites apparaissent ici.
inbox-new = Nouveau
inbox-read = Tout marquer comme lu
shortcut-inbox = Ce qui te mentionne
