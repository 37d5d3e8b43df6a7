# The texts in the page, grouped by view. Placeholders are in braces.

close = 閉じる
cancel = キャンセル
save = 保存
saved = 保存しました。
unsaved-changes = 保存していない変更があります
discard = 破棄
show = 表示
edit = 編集
delete = 削除
dismiss = 閉じる
more = その他
loading = 読み込んでいます…
connecting = 接続しています…
try-again = 再試行
nothing-found = 見つかりませんでした。
today = 今日
yesterday = 昨日
somebody = 誰か
others = { $count ->
   *[other] ほか{ $count }人
}
fault-title = このページで問題が発生しました
fault-text = 書いた内容は保存されています。もう一度お試しください。それでも直らない場合は、ページを再読み込みしてください。

## Channels

this-server = このサーバー
server-settings = サーバーの設定
channels = チャンネル
show-channels = チャンネルを表示
text-channels = テキスト
voice-channels = ボイス
voice-channel = ボイスチャンネル
unread-count = 未読{ $count }件
mention-count = { $count ->
   *[other] メンション{ $count }件
}
people-in = { $channel } にいる人
no-channels = 表示できるチャンネルがありません。
offline-text = サーバーに接続できません。自動で再接続します。
reconnecting = 再接続しています…
crowded = 開いているページが多すぎるため、いちばん古いこのページを停止しました。ここで続けるには再読み込みしてください。
switcher-open = 移動…
switcher-keys = Ctrl K
switcher-title = 移動先
switcher-field = チャンネルまたはメンバー

## Messages

messages = メッセージ
beginning = ここが { $channel } の始まりです。
empty-channel = { $channel } にはまだ何も書かれていません。あいさつしてみましょう。
to-newest = 最新へ移動
new-messages = 新着
message-of = { $name } のメッセージ
about = { $name }について
channel-more = このチャンネルの詳細
message-to = { $channel } へメッセージを送信
message-gone = このメッセージはもうありません。
channel-not-found = このチャンネルは存在しないか、表示する権限がありません。
go-to-message = メッセージへ移動
earlier-message = 以前のメッセージ
blocked-message = このメンバーをブロックしています。
bot = ボット
mark-webhook = ウェブフック
mark-edited = 編集済み
mark-pinned = ピン留め
file-count = { $count ->
   *[other] ファイル{ $count }件
}
typing = { $count ->
   *[other] { $names } が入力中…
}
many-typing = 複数の人が入力中…
react = リアクション
react-with = リアクションの絵文字
react-with-sign = { $sign } でリアクション
reactions = リアクション
no-reactions = まだ誰もリアクションしていません。
reaction-count = { $count ->
   *[other] { $count }人
}
reply = 返信
forward = 転送
pin = ピン留め
unpin = ピン留めを外す
copy-text = テキストをコピー
select-text = テキストを選択
copy-id = IDをコピー
copy-link = メッセージのリンクをコピー
copied = コピーしました。
link-copied = リンクをコピーしました。
copy-failed = ブラウザーがこのページでのコピーを許可していません。
edit-message = メッセージを編集
delete-message-title = このメッセージを削除しますか？
delete-message-text = 全員の画面から削除されます。
delete-message = メッセージを削除
pins = ピン留めしたメッセージ
no-pins = ピン留めされたメッセージはまだありません。
search = 検索
search-field = メッセージを検索
searching = 検索しています…
search-count = { $more ->
    [yes] 最新のメッセージ{ $count }件
   *[other] { $count ->
       *[other] メッセージ{ $count }件
    }
}
search-nothing = メッセージが見つかりませんでした。別の言葉や、より少ない言葉で試してください。
search-more = さらに古いものを表示
search-filter-values = このフィルターの値
search-kind-unknown = 「{ $value }」は「{ $filter }:」では使えません。使えるもの：{ $kinds }。
search-day-unknown = 「{ $value }」は日付ではありません。2026-01-31 のように入力してください。
search-day-excluded = 「{ $filter }:」は除外できません。代わりに「{ $other }:」を使ってください。
# Single words without spaces: the names and values of the filters in the search field.
search-from = 送信者
search-in = チャンネル
search-has = 種類
search-before = 以前
search-after = 以後
search-has-link = リンク
search-has-image = 画像
search-has-video = 動画
search-has-audio = 音声
search-has-file = ファイル
search-has-card = カード
search-has-pin = ピン留め
search-has-reaction = リアクション
jump-to-date = 日付に移動
date = 日付
jump-hint = その日の始まり以降の最初のメッセージに移動します。
jump = 移動
date-missing = 日付を選んでください。

## Composer

send = 送信
attach = ファイルを添付
files = ファイル
read-only = このチャンネルは閲覧のみです。書き込みはできません。
in-timeout-until = { $time } までタイムアウト中です。
may-not-attach = ここではファイルを添付できません。
too-many-files = 1件のメッセージに添付できるファイルは10個までです。
files-on-their-way = ファイルのアップロードが終わると、メッセージが送信されます。
replying-to = { $name } に返信
cancel-reply = 返信をやめる
ping = 通知
upload-sending = 送信中
upload-waits = 接続が切れました。自動的に再開します。
upload-checking = 確認中
upload-done = 完了
upload-cut-off = 接続が切れました。
remove-file = { $name } を外す
not-sent = 送信できませんでした。{ $reason }
edit-unsent = 書き直す
sent-when-back = 接続が戻ると送信されます。

## People

people = 参加者
members = メンバー
members-count = メンバー · { $count }
find-member = メンバーを検索
here-now = オンライン
away = オフライン
profile = プロフィール
member-unknown = この人はもうここのメンバーではありません。
is-online = オンライン
is-away = オフライン
in-timeout = タイムアウト中: 読むことしかできません。
joined-on = { $date } からメンバー
roles = ロール
role-owner = オーナー
role-admin = 管理者
role-moderator = モデレーター
role-member = メンバー
role-guest = ゲスト
mention = { $name } をメンション
block = { $name } をブロック
unblock = { $name } のブロックを解除

## Calls

call-none = 通話していません
call-joining = 接続しています…
call-connected = 接続済み
call-ringing = 呼び出し中…
call-reconnecting = 再接続しています…
call-replaced = 別のタブまたはデバイスから参加しました。
call-removed = ルームから外されました。
call-controls = 通話の操作
your-call = 参加中の通話
people-in-call = { $count ->
   *[other] { $count }人
}
people-in-room = ルームにいる人
alone-in-call = まだあなただけです。ほかの人はチャンネルの一覧であなたに気づき、参加できます。
are-here = { $count ->
   *[other] { $names } がいます。
}
nobody-here = まだ誰もいません。
join-call = 通話に参加
join-options = 参加方法を選ぶ…
join-with = { $channel } への参加方法を選ぶ…
may-not-join = ここでは通話に参加できません。
with-mic = マイク
with-camera = カメラ
mute = ミュート
unmute = ミュートを解除
deafen = スピーカーをミュート
undeafen = スピーカーのミュートを解除
muted = ミュート中
muted-by-moderator = モデレーターによりミュート中
deafened = スピーカーミュート中
deafened-by-moderator = モデレーターによりスピーカーミュート中
start-camera = カメラをオン
stop-camera = カメラをオフ
share-screen = 画面を共有
stop-sharing = 共有を停止
leave-call = 退出
name-you = { $name }（あなた）
your-screen = あなたの画面
screen-of = { $name } の画面
sound-blocked = ブラウザーが音声を止めています。ここを押すと聞こえます。

## Settings

settings = 設定
settings-all = すべての設定
settings-pages = 設定のページ
settings-find = 設定を探す
settings-group-own = アカウント
settings-group-community = コミュニティ
settings-group-moderation = モデレーション
settings-group-system = システム
settings-profile = プロフィール
settings-look = 外観と言語
settings-identity = サインアウト
your-status = ステータス
choose-picture = 画像を選ぶ
remove-picture = 画像を削除
picture-checked = サーバーでの確認が終わると、画像が表示されます。
theme = テーマ
theme-system = システムに従う
theme-light = ライト
theme-dark = ダーク
motion = アニメーション
motion-system = システムに従う
motion-reduced = 減らす
density = メッセージの表示
density-cosy = ゆったり
density-compact = コンパクト
text-size = 文字の大きさ
language = 言語
language-browser = ブラウザーに従う
sign-out = サインアウト
sign-out-title = サインアウトしますか？
change-identity = 別の名前を使う
give-up-identity-title = 今のあなたとしての参加をやめますか？
give-up-identity-text = このブラウザーの鍵は破棄されます。リンクした別のデバイスがなければ、あなた自身を含めて、誰もあなたとしてサインインできなくなります。メッセージは残ります。
shortcuts = キーボードショートカット
shortcut-send = 送信
shortcut-new-line = 改行
shortcut-edit-last = 最後に書いたメッセージを編集
shortcut-read = 横のパネルを閉じる、またはチャンネルを既読にして最新のメッセージへ移動する
shortcut-switcher = チャンネルやメンバーへ移動
shortcut-search = 検索
shortcut-sheet = このショートカット一覧
shortcut-previous = 上のチャンネル
shortcut-next = 下のチャンネル
shortcut-next-unread = 次の未読チャンネル
shortcut-previous-unread = 前の未読チャンネル
shortcut-settings = 設定を開く
shortcut-page = 入力中に前のメッセージを見る
shortcut-all-read = すべて既読にする
shortcut-mute = ミュートの切り替え
shortcut-deafen = スピーカーミュートの切り替え
shortcut-camera = カメラのオン・オフ

slow-mode-here = 低速モード：次のメッセージまで{ $time }待ちます。
