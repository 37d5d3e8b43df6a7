is-idle = 離席中
is-quiet = 取り込み中
own-presence = ほかの人からの見え方: { $state }
