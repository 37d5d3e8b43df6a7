is-idle = Inactif
is-quiet = Ne pas déranger
own-presence = Comment les autres te voient : { $state }
