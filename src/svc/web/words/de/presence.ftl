is-idle = Inaktiv
is-quiet = Bitte nicht stören
is-invisible = Unsichtbar
own-presence = So sehen dich andere: { $state }
set-status = Status setzen
