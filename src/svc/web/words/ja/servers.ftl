## 一つのウィンドウで複数のサーバー

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
