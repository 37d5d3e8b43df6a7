is-idle = Inactif
is-quiet = Ne pas déranger
is-invisible = Invisible
own-presence = Comment les autres te voient : { $state }
set-status = Définir un statut
