## Plusieurs serveurs dans une fenêtre

settings-servers = Serveurs
servers-manage = Ajouter ou retirer des serveurs
servers-text = Vos autres serveurs apparaissent au bord de cette page, avec leurs messages non lus. Seul ce navigateur garde la liste : aucun serveur ne la reçoit.
servers-address = Adresse, invitation ou lien de serveur
servers-address-hint = Le lien de serveur d’un autre serveur se trouve dans ses paramètres, sous Serveurs. Il montre ici les messages non lus et les mentions.
servers-add = Ajouter
servers-no-address = Ce n’est pas l’adresse d’un serveur.
servers-this = C’est le serveur sur lequel vous êtes.
servers-without-counts = sans messages non lus, car le lien de serveur manque
servers-unreachable = pas de réponse, ou le lien de serveur a été révoqué
servers-more = Plus sur { $name }
servers-up = Monter
servers-down = Descendre
servers-remove = Retirer
servers-own = Montrer ce serveur ailleurs
servers-own-text = Avec ce lien, la page d’un autre serveur montre combien de messages non lus et de mentions vous avez ici. Il montre ces nombres et rien d’autre.
servers-make-link = Créer un lien de serveur
servers-link = Votre lien de serveur
servers-link-warning = Collez-le sur un autre serveur, sous Paramètres, Serveurs. Toute personne qui l’a peut voir vos nombres.
servers-renew-link = Créer un nouveau lien
servers-revoke-link = Révoquer le lien
servers-copy = La même liste sur un autre serveur
servers-copy-text = Collez cette liste là-bas dans le même champ. La page de ce serveur pourra la lire : ne le faites que sur des serveurs de confiance.
servers-copy-all = Copier la liste
servers-mentions = { $count ->
    [one] 1 mention
   *[other] { $count } mentions
}
servers-unread = { $count ->
    [one] 1 message non lu
   *[other] { $count } messages non lus
}
