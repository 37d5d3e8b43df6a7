is-idle = Inaktiv
is-quiet = Bitte nicht stören
own-presence = So sehen dich andere: { $state }
