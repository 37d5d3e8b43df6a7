thread = Thread
threads = Followed threads
no-threads = You don’t follow any threads yet. Reply in a thread to follow it.
thread-closed = The first message of this thread was deleted.
follow-thread = Follow thread
unfollow-thread = Unfollow thread
answer-in-thread = Reply in thread
answer-field = Reply in thread
answers = { $count ->
    [one] 1 reply
   *[other] { $count } replies
}
remove-previews = Remove link previews
