# Notifications: levels, mutes, sounds, notices and Web Push.

notifications = 通知
notifications-muted = 通知: ミュート中
channel-muted = ミュート中
mark-read = 既読にする
mark-unread = 未読にする
notify-about = 通知する内容
level-default = 全体の設定に従う（{ $level }）
level-all = すべてのメッセージ
level-mentions = メンションのみ
level-nothing = 通知しない
mute-for = ミュート
mute-15-minutes = 15分間
mute-1-hour = 1時間
mute-8-hours = 8時間
mute-24-hours = 24時間
mute-until-changed = 自分で解除するまで
muted-until = { $time } までミュート中
muted-for-good = ミュート中
unmute-channel = ミュートを解除

## Settings

settings-notifications = 通知
level-of-all = 通知する内容（全チャンネルの既定）
mute-all = すべてミュート
this-device = このデバイス
notices = このページを開いている間、通知を表示する
notices-hint = ページが見えていないときだけ表示します。
notices-refused = ブラウザーがこのページの通知を許可していません。アドレスの横にある設定で許可してから、ここに戻ってください。
push = ページを閉じている間もこのデバイスに通知する
push-off = 通知はブラウザーの提供元を経由しますが、暗号化されているため読まれることはありません。
push-on = オンです。ページが見えていない間、このデバイスに通知します。
push-busy = お待ちください…
push-insecure = ブラウザーの制限により、https:// のアドレスでしか使えません。サーバーの運営者に https:// のアドレスを聞いてください。
push-install = iPhoneやiPadでは、まずこのページをホーム画面に追加し、そこから開いてオンにしてください。
push-unsupported = このブラウザーは対応していません。Firefox、Chrome、Edge、Safariなどをお使いください。
push-refused = ブラウザーがこのページからの通知を許可していません。アドレスの横にある設定で許可してから、ここに戻ってください。
push-failed = ブラウザーのプッシュサービスに接続できないか、設定でオフになっています。しばらくしてからもう一度お試しください。
sounds = サウンド
sound-message = メッセージ
sound-mention = 自分へのメンションや返信
sound-join = 誰かが通話に参加したとき
sound-leave = 誰かが通話から退出したとき
sound-mute = 自分のミュートを切り替えたとき
listen = 試聴
listen-to = 試聴: { $sound }
