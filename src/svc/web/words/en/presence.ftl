is-idle = Idle
is-quiet = Do not disturb
is-invisible = Invisible
own-presence = How others see you: { $state }
set-status = Set a status
