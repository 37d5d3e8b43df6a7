thread = スレッド
threads = フォロー中のスレッド
no-threads = フォロー中のスレッドはまだありません。スレッドでメッセージに返信すると、ここに表示されます。
thread-closed = スレッドの元のメッセージはなくなりました。
follow-thread = このスレッドをフォロー
unfollow-thread = このスレッドのフォローをやめる
answer-in-thread = スレッドで返信
answer-field = スレッドに返信
answers = { $count ->
   *[other] { $count }件の返信
}
remove-previews = リンクのプレビューを消す
