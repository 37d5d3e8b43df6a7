# Administration: shared texts, channels and permissions.

show-more = もっと見る
type-its-name = 続けるには「{ $name }」と入力してください
pick-hint = ロールまたはメンバーの名前
pick-member-hint = メンバーの名前
remove-target = { $name } を外す
role-gone = 削除されたロール
menu-of = { $name } のその他の操作
settings-of = { $name } の設定
settings-channels = チャンネル
lasting-none = なし
lasting-seconds = { $count ->
   *[other] { $count }秒
}
lasting-minutes = { $count ->
   *[other] { $count }分
}
lasting-hours = { $count ->
   *[other] { $count }時間
}
lasting-days = { $count ->
   *[other] { $count }日
}

## Channels

channels-about = すべてのチャンネルを、横の一覧の順に表示しています。
channels-keys = 一覧でドラッグするか、Ctrl+Shift+矢印キーで移動できます。
create-channel = チャンネルを作成
create-text-channel = テキストチャンネルを作成
create-voice-channel = ボイスチャンネルを作成
create-channel-in = { $name } にチャンネルを作成
channel-kind = 種類
channel-text = テキスト
channel-text-hint = メッセージ、画像、ファイル
channel-voice = ボイス
channel-voice-hint = 音声、ビデオ、画面共有での通話
channel-category = カテゴリー
channel-category-hint = チャンネルをまとめる見出し
channel-name-missing = 名前を入力してください。
channel-topic-hint = チャンネルの目的です。上部に表示されます。
no-category = カテゴリーなし
channel-private = プライベート
channel-private-hint = 選んだロールとメンバーだけに表示されます。オーナーには常に表示されます。
channel-access-add = 表示する相手
channel-access = 表示できるロールとメンバー
channel-access-empty = まだ誰もいません。
channel-settings = チャンネルの設定
channel-gone = このチャンネルはもうありません。
channel-page-overview = 概要
channel-page-permissions = 権限
slow-mode-hint = メンバーが次のメッセージを送るまでの待ち時間です。モデレーターは待つ必要がありません。
user-limit-hint = 通話に参加できる人数です。0にすると無制限になります。
user-limit-of = 定員{ $limit }人中{ $count }人が参加中
bitrate-usual = 自動
kbps = { $kbps } kbps
encrypt-calls-hint = 通話を聞いたり見たりできるのは参加者だけで、サーバーは鍵を持ちません。最大25人です。チャンネルに誰もいない間だけ変更できます。
channel-archive = チャンネルをアーカイブ
channel-archive-text = アーカイブしたチャンネルは一覧に表示されなくなります。検索は引き続きでき、いつでも元に戻せます。
channel-archived = 「{ $name }」をアーカイブしました。
archived-channels = アーカイブしたチャンネル
bring-back = 元に戻す
channel-delete = 削除
channel-delete-title = 「{ $name }」を削除しますか？
channel-delete-text = 中のメッセージもすべて削除されます。元に戻すことはできません。
category-delete-text = 中のチャンネルは、カテゴリーなしで残ります。
edit-channel = チャンネル設定
edit-named = { $name } を編集
channel-permissions = 権限
move-up = 上へ移動
move-down = 下へ移動
move-up-named = { $name } を上へ移動
move-down-named = { $name } を下へ移動
overrides = ここでロールやメンバーができること
overrides-about = ここで何も選ばなければ、サーバーでのロールの権限がそのまま適用されます。持っているロールのどれかがここで許可されていれば、許可されます。メンバー個人への設定がある場合は、それが最優先されます。
overrides-add = ロールまたはメンバーとして表示
overrides-for = 個別に設定されたロールとメンバー
overrides-of = このチャンネルでの { $name } の権限
override-allow = 許可
override-deny = 拒否
override-neutral = ロールに従う
result-of-role = 「{ $name }」のロールだけを持つ人としての表示です。各行の右端が、ここでできることです。
result-of-person = すべてのロールを合わせた { $name } としての表示です。各行の右端が、ここでできることです。
outcome-may = できる
outcome-may-not = できない

## Permissions

permissions-text = テキスト
permissions-voice = ボイス
permissions-members = メンバー
permissions-server = サーバー
permission-view-channel = チャンネルを見る
permits-view-channel = メッセージを読み、誰が通話しているかを見られます。
permission-send-messages = メッセージを送信
permits-send-messages = メッセージを書き、自分が書いたものを編集できます。
permission-attach-files = ファイルを添付
permits-attach-files = 画像や動画などのファイルを送れます。
permission-add-reactions = リアクションを追加
permits-add-reactions = メッセージに絵文字で反応できます。
permission-manage-messages = メッセージの管理
permits-manage-messages = ほかの人のメッセージを削除・ピン留めでき、低速モードでも待たずに書けます。
permission-mention-everyone = 全員をメンション
permits-mention-everyone = ロール全体、全員、またはオンラインの全員に通知できます。
permission-manage-webhooks = ウェブフックの管理
permits-manage-webhooks = プログラムが投稿するためのアドレスを作れます。
permission-join-voice = 通話に参加
permits-join-voice = ボイスチャンネルに入り、聞くことができます。
permission-speak = 発言
permits-speak = 通話で話せます。
permission-share-video = カメラを共有
permits-share-video = 通話で自分の映像を映せます。
permission-share-screen = 画面を共有
permits-share-screen = 通話で画面、ウィンドウ、タブを見せられます。
permission-mute-members = メンバーをミュート
permits-mute-members = 通話でほかの人のマイクやスピーカーをミュートできます。
permission-move-members = メンバーを移動
permits-move-members = ほかの人を別の通話へ移動したり、通話から外したりできます。
permission-change-nickname = 自分の名前を変更
permits-change-nickname = 自分の名前とステータスを変えられます。
permission-create-invites = 招待を作成
permits-create-invites = 参加用のリンクを作れます。
permission-manage-invites = 招待の管理
permits-manage-invites = ほかの人の招待を見て、取り消せます。
permission-manage-nicknames = メンバーの名前を変更
permits-manage-nicknames = 自分より下のロールのメンバーの名前を変えられます。
permission-timeout-members = メンバーをタイムアウト
permits-timeout-members = 自分より下のロールのメンバーを、しばらくの間、読むことしかできないようにします。
permission-kick-members = メンバーをキック
permits-kick-members = 自分より下のロールのメンバーをサーバーから外せます。招待があれば戻れます。
permission-ban-members = メンバーをBAN
permits-ban-members = 自分より下のロールのメンバーを完全に追放でき、BANの解除もできます。
permission-view-reports = 報告を見る
permits-view-reports = メンバーからの報告と、モデレーターの対応を読めます。
permission-view-audit-log = 監査ログを見る
permits-view-audit-log = このサーバーで誰が何を変更したかを読めます。
permission-manage-emoji = 絵文字の管理
permits-manage-emoji = サーバーの絵文字をアップロード、名前変更、削除できます。
permission-manage-bots = ボットの管理
permits-manage-bots = ボットとトークンを作成し、自分より低いロールのボットを削除できます。
permission-manage-automod = 自動モデレーションの管理
permits-manage-automod = メッセージを調べるルールの作成、試用、変更、削除ができます。
permission-manage-channels = チャンネルの管理
permits-manage-channels = チャンネルを作成、変更、並べ替え、削除できます。
permission-manage-roles = ロールの管理
permits-manage-roles = 自分より下のロールを作成・変更し、付けたり外したりできます。
