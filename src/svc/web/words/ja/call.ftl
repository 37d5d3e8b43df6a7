## Devices

device-microphone = マイク
device-camera = カメラ
device-screen = 画面
device-loudspeaker = スピーカー
device-refused = ブラウザーに{ $device }の使用が許可されていません。アドレスの横にある設定で許可してから、もう一度お試しください。
device-none = このデバイスに{ $device }が見つかりません。
device-busy = { $device }は別のプログラムで使用中です。
device-insecure = ブラウザーの制限により、{ $device }はHTTPSのアドレスでしか使えません。運営者にHTTPSのアドレスを聞いてください。
device-failed = { $device }を開けませんでした: { $message }
device-vanished = { $device }の接続が切れました。ほかにあれば、そちらに切り替えます。
device-missing = 選んだ{ $device }が接続されていません。別のデバイスを使います。
device-usual = ブラウザーに従う
device-number = デバイス { $number }
choose-microphone = マイク
choose-camera = カメラ
choose-speaker = スピーカー
no-speaker-choice = このブラウザーでは、システムで選ばれているスピーカーから再生されます。
level = 入力レベル
test-sound = テスト音を再生
settings-voice = 音声・ビデオ
input = 声を送るタイミング
input-voice = 話している間
input-voice-hint = しきい値より小さい音は送りません。
input-push = キーを押している間（プッシュ・トゥ・トーク）
input-push-hint = このページでキー操作ができ、文字を入力していないときに使えます。
threshold = しきい値
threshold-hint = いちばん下にすると、すべての音を送ります。
push-key = 話すときに押すキー: { $key }
press-a-key = キーを押してください
release = キーを離してから音声が切れるまでの時間（ミリ秒）
noise = 周囲のノイズ
noise-off = そのまま
noise-off-hint = 何も取り除きません。
noise-usual = 抑える
noise-usual-hint = ブラウザーの機能を使います。
noise-strong = 強く抑える
noise-strong-hint = キーボードやファンの音も取り除きます。プロセッサーに少し負荷がかかります。
echo = エコーを除去
gain = 自分の音量を自動で調整
music = 音楽モード
music-hint = ステレオ、128 kbps、フィルターなし。楽器の演奏向けです。スピーカーを使う部屋には向きません。
mirror = 自分の映像を左右反転して表示
blur = 背景をぼかす
blur-hint = カメラが対応している場合に使えます。少しCPUを使います。
blur-never = このブラウザーでは背景をぼかせません。システムのカメラ設定でできることがあります。
blur-not-here = お使いのカメラは背景のぼかしに対応していません。

## Layout

in-focus = 注目
call-menu = 通話のその他の操作
other-camera = カメラを切り替え
layout-grid = 全員を同じ大きさで表示
layout-speaker = 話している人を大きく表示
only-sound = 音声のみ
show-pictures = 映像を表示
screen-options = 共有の設定
screen-kind = 共有するもの
screen-text = 文字: くっきり
screen-motion = 動き: なめらか
screen-size = サイズとフレームレート
screen-size-automatic = 自動: 画面のサイズのまま
screen-size-option = { $height }p、{ $fps } fps、最大 { $mbps } Mbit/s
screen-size-hint = 回線が細い人には小さく届きます。
pop-out = 別ウィンドウで表示
pin-tile = { $name } をピン留め
unpin-tile = { $name } のピン留めを外す
full-screen-of = { $name } を全画面で表示
person-options = { $name } の音量と画質
volume = 音量
screen-volume = 画面共有の音量
mute-for-me = 自分だけミュート
muted-for-me = あなたがミュート中

## Quality

quality = 通話の品質
quality-of-picture = この人の映像
quality-of-pictures = ほかの人の映像
quality-usual = 設定に従う
quality-automatic = 自動
quality-automatic-hint = 回線が遅いときは、全員の声が聞こえるように、映像を小さくしたり、フレームを減らしたり、止めたりします。
quality-high = 最高
quality-high-hint = 音声に影響が出ても、すべてのフレームを受信します。
quality-low = 半分
quality-low-hint = フレームを半分だけ受信します。
quality-saver = 節約
quality-saver-hint = フレームを4分の1だけ受信します。
less-data = データ使用量を抑える
less-data-hint = 従量制の回線向けです。送受信する映像を小さくし、フレームを減らします。音声と、共有画面の文字は変わりません。
round-trip = 往復時間
loss = パケットロス
rate = ビットレート
path = 経路
path-udp = UDP（直接）
path-tcp = TCP
path-relay = リレー経由
path-unknown = 不明
pictures-of-others = ほかの人の映像
layers-wish = 希望どおり
layers-line = 回線に合わせて抑えています
layers-paused = 一部を停止中
downlink = あなたへの回線
downlink-rate = { $reason ->
    [use] { NUMBER($kbps) } kbit/s（これ以上は未確認）
    [loss] { NUMBER($kbps) } kbit/s（パケットロスあり）
   *[other] { NUMBER($kbps) } kbit/s
}
picture-now = 現在
picture-paused = 停止中
picture-size = { $layer ->
    [0] 小
    [1] 中
   *[other] フルサイズ
}
picture-reason = { $reason ->
    [line] 回線が細いため
    [hidden] 表示されていません
   *[source] これ以上は送信されていません
}
layers-asked = { $layer ->
    [0] フレームの4分の1
    [1] フレームの半分
   *[other] すべてのフレーム
}
sent-by-me = 送信
received = 受信
source-mic = マイク
source-camera = カメラ
source-screen = 画面
source-screen_audio = 画面の音声
source-unknown = 不明
ms = { NUMBER($ms) } ms
rate-kbps = { NUMBER($kbps) } kbps
fps = { NUMBER($fps) } fps
lost = ロス { $share }
jitter = ジッター { NUMBER($ms) } ms
concealed = 補間 { $share }
at-most = 最大 { $value }
copy-report = レポートをコピー

## Hands, reactions and screens

call-text = 通話のチャット
raise-hand = 手を挙げる
audience = 聴衆 { $count }
invite-to-speak = 発言に招待
to-audience = 聴衆に移す
stage-empty = まだ誰も話していません。
lower-hand = 手を下ろす
lower-hand-of = { $name } の手を下ろす
hand-lowered = モデレーターがあなたの手を下ろしました。もう一度挙げることができます。
may-speak = 発言できるようになりました。準備ができたらミュートを解除してください。
raised-hands = 挙がっている手
hand-raised = 挙手中
shortcut-hand = 手を挙げる・下ろす
watch = 見る
stop-watching = { $name } の視聴をやめる
withheld = { $reason ->
    [codec] このブラウザーではこの映像を表示できません。
   *[no_line] この通話には映像が多すぎます。ほかの映像が終わると表示されます。
}
paused-slow = 停止中：回線が遅いため
withheld-sound = { $reason ->
    [codec] このブラウザーではこの人の声を再生できません。
   *[no_line] この通話には声が多すぎます。ほかの声が終わると聞こえます。
}
stop-screen-of = { $name } の画面を止める
stop-screen = 画面の共有を止める
screen-stopped = モデレーターがあなたの画面の共有を止めました。もう一度共有するには、通話から退出して入り直してください。
zoom-label = { $name }：＋と−で拡大・縮小、矢印キーで移動、0で全体を表示
zoom-reset = { $percent } % · 全体を表示

## Why a call does not connect

trouble-offline = この端末はネットワークにつながっていません。つながると通話は続きます。
trouble-server = サーバーが応答しません。ネットワークを確認してください。サーバーが応答すると通話は続きます。
trouble-voice = サーバーがメディアサービスに接続できないため、今は通話できません。管理者に知らせてください。通話は自動で再開します。
trouble-signalling = サーバーは応答しますが、通話用の回線が開きません。プロキシかブラウザーの拡張機能が WebSocket を妨げているかもしれません。
trouble-encryption = メディアサービスには届きますが、途中で送信内容が変えられています。別のネットワークを試すか、VPN を切ってください。
trouble-lost = 通話の回線が切れました。つながるまで繰り返し試します。
trouble-path = { $ways ->
    [udp] このネットワークはサーバーのポート { $port } への UDP を通しません。
   *[both] このネットワークはサーバーのポート { $port } への UDP も TCP も通しません。
}
trouble-relay = { $relay ->
    [refused] リレーがサーバーのパスワードを拒否しています。サーバーの管理者に知らせてください。
    [silent] リレーにも届きません。
   *[useless] リレーは応答しますが、どこにもつながりません。サーバーの管理者に知らせてください。
}
trouble-elsewhere = スマートフォンの回線など別のネットワークか、VPN を試してください。

## Features this browser lacks

call-never = このブラウザーでは通話に参加できません。新しい Chrome、Edge、Firefox、Safari を使ってください。ロックダウンモードがオンの場合は、このページを除外してください。
screen-never = このブラウザーでは画面を共有できません。パソコンのブラウザーではできます。
screen-insecure = ブラウザーは HTTPS のアドレスでだけ画面を共有します。ホストに頼んでください。
screen-silent = 全員に自分の声が聞こえてしまうため、この画面は音声なしで共有されます。音声も共有するには、タブを共有してください。
pop-out-never = このブラウザーには、ほかの上に表示され続けるウィンドウがありません。パソコンの Chrome と Edge にはあります。
pop-out-nothing = 別ウィンドウで表示できる映像がありません。

## Calls in encrypted channels

channel-encrypted = 暗号化
call-encrypted = この通話は暗号化されています
call-encrypted-text = この通話を聞いたり見たりできるのは、参加している端末だけです。サーバーは鍵を持たずに中継します。ただし、誰が参加し、誰が話しているかは分かります。通話の横に書いた内容は暗号化されません。
call-encrypted-who = { $names }の端末（{ $count }台）が鍵を持っています。
call-encrypted-alone = まだほかに誰もいないため、鍵はありません。
call-encrypted-number = 通話の中でこの番号を比べてください。全員が同じ番号を読み上げ、人数が{ $count }人なら、ほかの誰も聞くことができません。誰かが出入りすると変わります。
call-encrypted-uninvited = { $names }の端末がこの通話の鍵を持っていますが、参加者に表示されていません。誰かが聞いているかもしれません。
call-encrypted-hint = ここでの通話は暗号化され、参加者だけが聞いたり見たりできます。
call-encrypted-off = このチャンネルは暗号化されなくなったため、通話から退出しました。
