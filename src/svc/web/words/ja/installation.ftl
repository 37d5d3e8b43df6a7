# The page as an application: new versions, offline content, and content shared from elsewhere.

new-version = 新しいバージョンがあります。
load-version = 更新する
update-later = まだ送信中のものがあります。終わってから新しいバージョンに更新してください。
shown-from = オフラインです。{ $time } の時点で最後に読んだ内容を表示しています。
share-title = チャンネルで共有
share-from-site = { $host } がここに共有しようとしています。
share-from-outside = 別のアプリまたはサイトがここに共有しようとしています。
share-find = チャンネルを検索
share-nowhere = 書き込めるチャンネルがありません。
install = このページをアプリとしてインストール
