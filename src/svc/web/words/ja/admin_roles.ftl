# Roles: creating, changing, assigning and removing them.

settings-roles = ロール
roles-about = メンバーは、持っているロールのどれかで許可されていることができます。上のロールを持つ人は、それより下のロールのメンバーを管理できます。
roles-keys = ロールはドラッグか Ctrl+Shift+矢印キーで並べ替えられます。
create-role = ロールを作成
all-roles = すべてのロール
role-name = 名前
role-name-missing = 名前を入力してください。
role-colour = 色
colour-none = 色なし
colour-own = 別の色
role-held = { $count ->
    [0] 誰もいません
   *[other] メンバー{ $count }人
}
role-above-you = 自分のロールより下ではありません
role-holders = このロールを持つメンバー
role-held-by-none = まだ誰もいません。
give-role-to = ロールを付ける相手
delete-role = ロールを削除
delete-role-title = ロール「{ $name }」を削除しますか？
role-was-deleted = ロール「{ $name }」は削除されました。
delete-role-text = このロールを持つ全員から外されます。元に戻すことはできません。
change-roles = ロールを変更
roles-of = { $name } のロール
and-more-permissions = { $names }、ほか{ $count }件
