markdown-table = 表
markdown-spoiler = ネタバレ。表示する
markdown-copy = コピー
markdown-copied = コピーしました
markdown-to-do = 未完了
markdown-done = 完了
link-to-message = #{ $channel } › メッセージ
