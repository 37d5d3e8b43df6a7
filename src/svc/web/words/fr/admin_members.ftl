# The list of members for moderators: filters and bulk actions.

settings-members = Membres
timed-out = Exclu temporairement
invited-by = Sur invitation de { $name }
nobody-found = Personne ne correspond.
filters = { $count ->
    [0] Filtres et ordre
   *[other] Filtres et ordre ({ $count } actifs)
}
filter-any = Tous
filter-any-time = N’importe quand
filter-role = Rôle
filter-joined = Arrivée
filter-seen = Dernière visite
filter-kind = Qui
filter-kind-all = Tout le monde
filter-kind-people = Personnes
filter-kind-bots = Bots
days-joined-within = { $count ->
    [one] Depuis hier
   *[other] Ces { $count } derniers jours
}
days-joined-before = { $count ->
    [one] Il y a plus d’un jour
   *[other] Il y a plus de { $count } jours
}
days-seen-within = { $count ->
    [one] Depuis hier
   *[other] Ces { $count } derniers jours
}
days-seen-before = { $count ->
    [one] Pas depuis un jour
   *[other] Pas depuis { $count } jours
}
sort-by = Ordre
sort-joined-down = Plus récents d’abord
sort-joined = Plus anciens d’abord
sort-name = Par nom
sort-last-seen-down = Vus récemment d’abord
sort-last-seen = Absents depuis longtemps d’abord
seen-on = dernière visite le { $date }
choose-named = Choisir { $name }
choose-all-shown = { $count ->
    [one] Choisir le membre affiché
   *[other] Choisir les { $count } affichés
}
choose-none = Tout désélectionner
chosen-count = { $count } choisis
bulk-give = Donner un rôle
bulk-take = Retirer un rôle
bulk-timeout = Exclure temporairement
bulk-kick = Expulser
bulk-ban = Bannir
bulk-give-title = { $count ->
    [one] Donner { $role } à 1 membre ?
   *[other] Donner { $role } à { $count } membres ?
}
bulk-take-title = { $count ->
    [one] Retirer { $role } à 1 membre ?
   *[other] Retirer { $role } à { $count } membres ?
}
bulk-timeout-title = { $count ->
    [one] Exclure temporairement 1 membre ?
   *[other] Exclure temporairement { $count } membres ?
}
bulk-kick-title = { $count ->
    [one] Expulser 1 membre ?
   *[other] Expulser { $count } membres ?
}
bulk-ban-title = { $count ->
    [one] Bannir 1 membre ?
   *[other] Bannir { $count } membres ?
}
bulk-give-act = Donner à { $count }
bulk-take-act = Retirer à { $count }
bulk-timeout-act = En exclure { $count }
bulk-kick-act = En expulser { $count }
bulk-ban-act = En bannir { $count }
bulk-give-done = { $count ->
    [one] 1 membre a maintenant le rôle { $role }.
   *[other] { $count } membres ont maintenant le rôle { $role }.
}
bulk-take-done = { $count ->
    [one] 1 membre n’a plus le rôle { $role }.
   *[other] { $count } membres n’ont plus le rôle { $role }.
}
bulk-timeout-done = { $count ->
    [one] 1 membre est exclu temporairement.
   *[other] { $count } membres sont exclus temporairement.
}
bulk-kick-done = { $count ->
    [one] 1 membre a été expulsé.
   *[other] { $count } membres ont été expulsés.
}
bulk-ban-done = { $count ->
    [one] 1 membre est banni.
   *[other] { $count } membres sont bannis.
}
bulk-meant = Concernés : { $count }
bulk-left-out = Laissés de côté : { $count }
bulk-why-self = C’est toi
bulk-why-rank = Il te faut un rôle plus élevé
bulk-why-has = L’a déjà
bulk-why-has-not = Ne l’a pas
bulk-progress = { $done } sur { $of }
bulk-refused-title = { $count ->
    [one] Il reste 1 membre
   *[other] Il reste { $count } membres
}
bulk-refused = Le serveur a refusé ceux-ci
