is-idle = 離席中
is-quiet = 取り込み中
is-invisible = オンライン状態を隠す
own-presence = ほかの人からの見え方: { $state }
set-status = ステータスを設定
