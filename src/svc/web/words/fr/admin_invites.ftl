# Invites.

settings-invites = Invitations
invite-people = Inviter des gens
invite-others = Inviter d’autres personnes
invite-lifetime = Valable
invite-forever = Sans limite de temps
invite-uses = Pour combien de personnes
invite-for = { $count ->
    [one] { $count } personne
   *[other] { $count } personnes
}
invite-for-all = Nombre illimité
invite-role = Rôle à l’arrivée
invite-channel = Salon d’arrivée
invite-any-channel = Le premier salon
invite-approval = Approuver chaque personne
invite-approval-hint = Chaque personne attend que quelqu’un qui gère les invitations la laisse entrer.
make-link = Créer un lien
another-link = Créer un autre lien
share-link = Partager
invite-link = Lien
invite-copied = Le lien est copié. Envoie-le aux personnes que tu veux voir ici.
invite-code-for-phones = Code pour téléphones
copy-invite = Copier le lien
invites-all-about = Tous les liens encore valables.
invites-own-about = Tes liens encore valables. Un lien prend fin quand tu pars.
no-invites = Il n’y a aucun lien pour le moment.
invite-by = par { $name }
invite-by-operator = par l’opérateur
invite-used = { $uses ->
    [0] pas encore utilisé
    [one] utilisé une fois
   *[other] utilisé { $uses } fois
}
invite-used-of = utilisé { $uses } fois sur { $most }
invite-with-approval = avec approbation
invite-until = jusqu’au
invite-joined-show = Qui est venu
invite-joined = Venus par ce lien : { $names }
invite-joined-none = Aucune des personnes venues par ce lien n’est encore ici.
revoke = Révoquer
revoke-invite = Révoquer { $code }
revoke-title = Révoquer ce lien ?
revoke-text = Plus personne ne pourra entrer avec ce lien. Les membres venus par lui restent.
applications = En attente d’entrée
application-approve = Laisser entrer
application-refuse = Refuser
