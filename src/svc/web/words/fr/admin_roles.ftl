# Roles: creating, changing, assigning and removing them.

settings-roles = Rôles
roles-about = Les membres peuvent faire ce que permet l’un de leurs rôles. Avec un rôle plus élevé, tu peux agir sur les membres dont les rôles sont plus bas.
roles-keys = Fais glisser un rôle pour l’ordonner, ou appuie sur Ctrl+Maj+Flèche.
create-role = Créer un rôle
all-roles = Tous les rôles
role-name = Nom
role-name-missing = Saisis un nom.
role-colour = Couleur
colour-none = Aucune couleur
colour-own = Une autre couleur
role-held = { $count ->
    [0] Personne
    [one] { $count } membre
   *[other] { $count } membres
}
role-above-you = Pas en dessous de ton propre rôle
role-holders = Qui a ce rôle
role-held-by-none = Personne ne l’a encore.
give-role-to = Le donner à
delete-role = Supprimer le rôle
delete-role-title = Supprimer le rôle { $name } ?
role-was-deleted = Le rôle { $name } a été supprimé.
delete-role-text = Tous les membres qui l’ont le perdront. Il ne pourra pas être rétabli.
change-roles = Modifier les rôles
roles-of = Rôles de { $name }
and-more-permissions = { $names } et { $count } de plus
