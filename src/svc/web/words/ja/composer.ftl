completion = 入力候補
completion-role = ロール
completion-group = グループ
emoji-choose = 絵文字を選ぶ
emoji-more = すべての絵文字
drop-here = ここにファイルをドロップして添付
describe-file = { $name } の説明を書く
description = 説明
description-hint = 見えない人のために、何が写っているかを書いてください。
file-gone = このファイルはもうありません。
picture-of = { $at } / { $count }
picture-before = 前の画像
picture-after = 次の画像
open-file = 新しいタブで開く
formatting = 書式
format-bold = 太字
format-italic = 斜体
format-underline = 下線
format-code = コード
format-strike = 取り消し線
format-spoiler = ネタバレ（押すと表示）
news-count = 新しいメッセージ { NUMBER($count) } 件
pasted-as-file = メッセージには長すぎるため、ファイルとして添付しました。
too-long = 4,000文字のメッセージには長すぎます。
characters-left = { $count ->
   *[other] 残り{ $count }文字
}
emoticons = 顔文字を絵文字に変える
emoticons-hint = :) と書くと 🙂 として送信されます。直後に Backspace を押すと元に戻ります。
command-shrug = メッセージの後に ¯\_(ツ)_/¯ を付ける
command-tableflip = メッセージの後に (╯°□°)╯︵ ┻━┻ を付ける
command-unflip = メッセージの後に ┬─┬ノ( º _ ºノ) を付ける
command-spoiler = 押すまで隠れたテキストを送る
command-nick = ここでの名前を変える
command-status = ステータスを変える。テキストがなければ消す
slow-mode-left = 低速モード：あと { $time } で書き込めます。
spoiler = ネタバレ
spoiler-cover = ネタバレ：{ $kind ->
    [picture] 画像
    [video] 動画
    [audio] 音声
   *[file] ファイル
}。表示する
spoiler-mark = ネタバレ：押すまで { $name } を隠す
voice-message = ボイスメッセージ
voice-record = ボイスメッセージを録音
recording = 録音中… { $time }
voice-attach = 添付
