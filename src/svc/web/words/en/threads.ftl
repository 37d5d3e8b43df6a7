thread = Thread
threads = Threads that you follow
no-threads = You follow no threads yet. Answer a message in a thread, and it stands here.
thread-closed = The message that this hung on is gone.
follow-thread = Follow this thread
unfollow-thread = Do not follow this thread any more
answer-in-thread = Answer in a thread
answer-field = Answer in the thread
answers = { $count ->
    [one] One answer
   *[other] { $count } answers
}
remove-previews = Take the previews of links away
