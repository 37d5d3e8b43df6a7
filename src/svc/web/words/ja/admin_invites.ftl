# Invites.

settings-invites = 招待
invite-people = 招待する
invite-others = ほかの人を招待する
invite-lifetime = 有効期間
invite-forever = 無期限
invite-uses = 使える人数
invite-for = { $count ->
   *[other] { $count }人
}
invite-for-all = 無制限
invite-role = 付けるロール
invite-channel = 最初に開くチャンネル
invite-any-channel = 先頭のチャンネル
invite-approval = 1人ずつ承認する
invite-approval-hint = 招待を管理する人が承認するまで待ってもらいます。
make-link = リンクを作成
another-link = 別のリンクを作成
share-link = 共有
invite-link = リンク
invite-copied = リンクをコピーしました。招待したい人に送ってください。
invite-code-for-phones = スマートフォン用のコード
copy-invite = リンクをコピー
invites-all-about = 現在有効なすべてのリンクです。
invites-own-about = あなたが作った、現在有効なリンクです。サーバーを退出すると無効になります。
no-invites = 現在、リンクはありません。
invite-by = 作成者: { $name }
invite-by-operator = 作成者: 運営者
invite-used = { $uses ->
    [0] 未使用
   *[other] { $uses }回使用
}
invite-used-of = { $most }回中{ $uses }回使用
invite-with-approval = 承認制
invite-until = 期限
invite-joined-show = 参加した人
invite-joined = このリンクで参加: { $names }
invite-joined-none = このリンクで参加した人は、今は誰もいません。
revoke = 取り消す
revoke-invite = { $code } を取り消す
revoke-title = このリンクを取り消しますか？
revoke-text = 今後、このリンクでは参加できなくなります。すでに参加したメンバーはそのまま残ります。
applications = 承認待ち
application-approve = 承認
application-refuse = 拒否
