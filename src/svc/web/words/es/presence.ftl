is-idle = Inactivo
is-quiet = No molestar
own-presence = Así te ven los demás: { $state }
