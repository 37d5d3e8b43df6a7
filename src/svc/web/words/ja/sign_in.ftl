## Sign-in

join-title = 会話に参加しましょう
join-server = { $server } に参加
back-at = { $server } へおかえりなさい
people-here = { $count ->
    [0] まだメンバーはいません
   *[other] メンバー{ $count }人
}
online-now = { $count }人がオンライン
first-member = あなたが最初の1人です。このリンクから参加すると、オーナーになります。
access-lost = このサーバーには入れなくなりました。{ $reason }
insecure = ブラウザーの制限により、サインインや、マイクとカメラの使用ができるのは https:// のアドレスか、このコンピューター上の http://127.0.0.1 だけです。サーバーの運営者に https:// のアドレスを聞いてください。
no-browser-storage = このブラウザーは、このページのデータを保存しません。プライベートウィンドウかもしれません。メンバーでいられるのは、ウィンドウを閉じるまでです。
joins-closed = このサーバーは現在、参加を受け付けていません。運営者が受付を停止しています。しばらくしてからもう一度お試しください。
sign-in-impossible = ここにはサインインできません。このサーバーはアカウントでのサインインのみ受け付けていますが、プロバイダーが設定されていません。運営者に知らせてください。
your-name = 名前
name-missing = 名前を入力してください。
name-wanted = はじめまして。ほかの人に表示される名前を決めてください。
name-given = 「{ $wanted }」はすでに使われているため、名前は「{ $given }」になりました。設定で変更できます。
invite-code = 招待コード
invite-hint = 参加するには招待が必要です。コードまたはリンク全体を貼り付けてください。
approval-message = モデレーターへのメッセージ（任意）
approval-hint = 参加には承認が必要です。あなたが誰なのかを伝えてください。
server-rules = このサーバーのルール
accept-rules = ルールに同意します
join = 参加
joining = 参加しています…
sign-in = サインイン
sign-in-as = { $name } としてサインイン
or = または
continue-with = { $provider } で続行
accounts-only = このサーバーは { $provider } のアカウントのみ受け付けています。
signed-in-at = { $provider } でサインインしました。
by-account = { $provider } のアカウントでサインインします。
other-account = 別のアカウントを使う
sign-in-method-refused = 前回のサインイン方法は、このサーバーでは使えなくなりました。
provider-cancelled = { $provider } でのサインインが完了していません。
provider-mismatch = このサインインは別のタブで始められたものです。もう一度お試しください。
provider-refused = { $provider } がサインインを拒否しました: { $reason }
am-new = はじめて参加する
have-code = 別のデバイスですでにメンバーになっている
code = コード
code-text = すでにメンバーになっている名前で、このデバイスでもサインインします。
code-hint = コードは、ほかのデバイスの「設定」→「デバイス」で作れます。すべてのデバイスを失くしたときは、保管しておいた復旧コードを使うか、サーバーのオーナーにもらってください。その場合、ほかのデバイスはサインアウトされます。
code-missing = コードを入力してください。
add-device = このデバイスを追加
have-certificate = 証明書を使う
certificate = 証明書
certificate-text = このサーバーは { $issuers } の証明書を受け付けています。
certificate-unreadable = 証明書ではありません。証明書は、ドットが2つ入った長い1行の文字列です。
certificate-other-key = この証明書は別のブラウザーの鍵のものです。このブラウザーの鍵の証明書を発行してもらってください。
public-key = このブラウザーの公開鍵
public-key-text = 証明書の発行に必要です。人に見せても問題ありません。
copy = コピー
load-file = ファイルから読み込む
waiting-title = 承認待ち
waiting-text = 参加の承認を待っています。このページは開いたままにしてください。承認されると自動で進みます。
back-to-form = 入力画面に戻る
approval-refused-because = 参加は承認されませんでした: { $reason }
banned-because = このサーバーからBANされています: { $reason }

## First steps

first-steps = サーバーの準備ができました
step-number = ステップ { $number }/{ $count }
step-skip = スキップ
step-done = 完了:
step-name = サーバーに名前を付ける
step-named = サーバーの名前は「{ $name }」です
server-name-missing = 名前を入力してください。
step-icon = サーバーのアイコンを設定する
step-icon-given = サーバーのアイコンを設定しました
step-channel = 好きな話題のチャンネルを追加する
step-channel-do = チャンネルを追加
step-invite = リンクで誰かを招待する
step-invite-do = リンクを作成
hide-first-steps = このステップを隠す
newcomer-title = { $server } へようこそ
newcomer-channels = ここにあるもの
offer-title = あとで役に立ちます
offer-notifications-text = メンションやメッセージが届いたらお知らせします。
offer-notifications = 通知をオンにする
offer-code-text = この端末をなくしても、復旧コードがあれば戻れます。
offer-code = 復旧コードを作成
