thread = Thread
threads = Threads that you follow
no-threads = You do not follow any threads yet. Reply in a thread, and it appears here.
thread-closed = The message that started this thread is gone.
follow-thread = Follow this thread
unfollow-thread = Unfollow this thread
answer-in-thread = Reply in a thread
answer-field = Reply in the thread
answers = { $count ->
    [one] 1 reply
   *[other] { $count } replies
}
remove-previews = Remove link previews
