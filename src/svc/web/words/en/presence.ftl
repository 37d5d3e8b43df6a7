is-idle = Idle
is-quiet = Do not disturb
own-presence = How others see you: { $state }
