is-idle = Inactivo
is-quiet = No molestar
is-invisible = Invisible
own-presence = Así te ven los demás: { $state }
set-status = Poner un estado
