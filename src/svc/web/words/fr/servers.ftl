## Several servers in one window

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

link-accounts = Comptes associés
link-accounts-text = Montrez sur votre profil que vous êtes aussi membre d’un autre serveur. Les pages des deux serveurs vous le demandent d’abord. Chacune signe avec sa propre clé : personne d’autre ne peut se faire passer pour vous.
link-choose = Associer un compte
link-no-servers = Ajoutez d’abord l’autre serveur ci-dessus.
link-title = Associer vos comptes
link-start = Votre profil ici peut montrer que vous êtes aussi membre de { $host }. La page de ce serveur s’ouvre maintenant et vous demande de le confirmer.
link-start-note = La page de { $host } saura quel compte vous avez ici. Votre profil ne montre rien avant votre accord.
link-continue = Continuer là-bas
link-request-title = Le compte sur { $host } est-il le vôtre ?
link-request = { $host } vous demande de confirmer que votre compte là-bas et votre compte ici appartiennent à la même personne.
link-request-note = Confirmez-le seulement si vous venez de commencer vous-même sur { $host }. La page de ce serveur saura quel compte vous avez ici. Le serveur sur lequel vous êtes n’apprend rien de { $host }.
link-confirm = Oui, les deux sont à moi
link-show-title = Montrer le compte sur votre profil ?
link-show = { $host } a confirmé votre compte. Votre profil ici peut maintenant le montrer à tout le monde sur ce serveur.
link-show-note = Ce serveur saura alors que vous êtes membre de { $host }. Vous pouvez retirer le compte à tout moment, et retirer la confirmation là-bas.
link-show-action = Montrer sur mon profil
link-done-title = Vos comptes sont associés
link-done = Votre profil ici montre maintenant { $host }.
link-both = Votre profil sur { $host } doit-il aussi montrer ce serveur ? Sa page vous le demande d’abord.
link-both-action = Demander là-bas
link-unknown = { $host } demande un compte associé, mais ce n’est pas l’un de vos serveurs ici. Ajoutez-le dans les paramètres, sous Serveurs, et recommencez.
link-expired = Cette demande est trop ancienne. Recommencez sur { $host }.
link-invalid = Cette demande de compte associé n’est pas valable. Recommencez sur le serveur où vous avez commencé.
link-also = Aussi sur { $host }
link-unchecked = Pas encore vérifié
link-verify = Vérifier auprès de { $host }
link-verify-short = Vérifier
link-verify-hint = { $host } saura alors que vous avez regardé ce compte
link-verified = Vérifié : la même personne que { $name }
link-not-confirmed = Pas confirmé là-bas, ou plus maintenant
link-no-response = Pas de réponse, ou votre lien de serveur a été révoqué
link-unverified = Seuls les membres des deux serveurs peuvent le vérifier
link-remove = Retirer { $host } du profil
link-since = Sur votre profil depuis le { $date }
link-confirmations = Vos confirmations
link-confirmations-text = Vous avez confirmé à ces serveurs que vous avez un compte ici. Après le retrait d’une confirmation, plus personne ne peut vérifier le compte.
link-another-server = Un autre serveur
link-confirmed-on = Confirmé le { $date }
link-withdraw = Retirer la confirmation pour { $host }
link-withdraw-short = Retirer
