markdown-table = 表
markdown-spoiler = ネタバレ。表示する
markdown-copy = コピー
markdown-copied = コピーしました
