## Several servers in one window

settings-servers = サーバー
servers-manage = サーバーを追加または削除
servers-text = ほかのサーバーは、未読メッセージとともにこのページの端に表示されます。一覧はこのブラウザーだけに保存され、どのサーバーにも送られません。
servers-address = アドレス、招待リンク、またはサーバーリンク
servers-address-hint = ほかのサーバーのサーバーリンクは、そのサーバーの設定の「サーバー」にあります。これがあると、未読メッセージとメンションがここに表示されます。
servers-add = 追加
servers-no-address = サーバーのアドレスではありません。
servers-this = いま開いているサーバーです。
servers-without-counts = サーバーリンクがないため、未読は表示されません
servers-unreachable = 応答がないか、サーバーリンクが取り消されました
servers-more = { $name } のその他の操作
servers-up = 上へ
servers-down = 下へ
servers-remove = 削除
servers-own = このサーバーをほかのサーバーで表示
servers-own-text = このリンクがあると、ほかのサーバーのページに、ここでの未読メッセージとメンションの数が表示されます。表示されるのは数だけです。
servers-make-link = サーバーリンクを作成
servers-link = あなたのサーバーリンク
servers-link-warning = ほかのサーバーの「設定」の「サーバー」に貼り付けてください。リンクを持つ人は誰でも数を見られます。
servers-renew-link = 新しいリンクを作成
servers-revoke-link = リンクを取り消す
servers-copy = ほかのサーバーでも同じ一覧
servers-copy-text = そのサーバーの同じ欄に一覧を貼り付けてください。そのサーバーのページは一覧を読めるようになるので、信頼できるサーバーでだけ行ってください。
servers-copy-all = 一覧をコピー
servers-mentions = { $count ->
   *[other] メンション { $count } 件
}
servers-unread = { $count ->
   *[other] 未読メッセージ { $count } 件
}

link-accounts = リンクされたアカウント
link-accounts-text = ほかのサーバーのメンバーでもあることを、プロフィールに表示できます。両方のサーバーのページが先に確認します。それぞれが自分の鍵で署名するので、ほかの人があなたになりすますことはできません。
link-choose = アカウントをリンク
link-no-servers = 先に上でそのサーバーを追加してください。
link-title = アカウントをリンク
link-start = ここのプロフィールに、{ $host } のメンバーでもあることを表示できます。これからそのサーバーのページが開き、確認を求めます。
link-start-note = { $host } のページは、あなたのここでのアカウントを知ります。同意するまで、プロフィールには何も表示されません。
link-continue = 続ける
link-request-title = { $host } のアカウントはあなたのものですか？
link-request = { $host } が、そこのアカウントとここのアカウントが同じ人のものであることの確認を求めています。
link-request-note = いま自分で { $host } から始めた場合にだけ確認してください。そのページは、あなたのここでのアカウントを知ります。いま開いているサーバーには { $host } のことは伝わりません。
link-confirm = はい、どちらも私のものです
link-show-title = プロフィールに表示しますか？
link-show = { $host } があなたのアカウントを確認しました。ここのプロフィールで、このサーバーの全員に表示できます。
link-show-note = このサーバーは、あなたが { $host } のメンバーであることを知ります。表示はいつでも削除でき、確認はそのサーバーで取り消せます。
link-show-action = プロフィールに表示
link-done-title = アカウントがリンクされました
link-done = ここのプロフィールに { $host } が表示されています。
link-both = { $host } のプロフィールにも、このサーバーを表示しますか？そのページが先に確認します。
link-both-action = 確認する
link-unknown = { $host } がリンクされたアカウントについて確認を求めていますが、ここのサーバー一覧にありません。設定の「サーバー」で追加して、もう一度始めてください。
link-expired = このリクエストは古すぎます。{ $host } でもう一度始めてください。
link-invalid = リンクされたアカウントのリクエストが無効です。始めたサーバーでもう一度やり直してください。
link-also = { $host } にもいます
link-unchecked = まだ確認していません
link-verify = { $host } に確認する
link-verify-short = 確認
link-verify-hint = あなたがこのアカウントを見たことが { $host } に伝わります
link-verified = 確認済み：{ $name } と同じ人です
link-not-confirmed = そのサーバーでは確認されていないか、取り消されました
link-no-response = 応答がないか、あなたのサーバーリンクが取り消されました
link-unverified = 両方のサーバーのメンバーだけが確認できます
link-remove = プロフィールから { $host } を削除
link-since = { $date } からプロフィールに表示
link-confirmations = あなたの確認
link-confirmations-text = ここにアカウントがあることを、これらのサーバーに確認しました。取り消すと、誰もアカウントを確認できなくなります。
link-another-server = ほかのサーバー
link-confirmed-on = { $date } に確認
link-withdraw = { $host } への確認を取り消す
link-withdraw-short = 取り消す
