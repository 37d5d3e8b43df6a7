thread = Thread
threads = Threads, denen du folgst
no-threads = Du folgst noch keinen Threads. Antworte auf eine Nachricht in einem Thread, dann steht er hier.
thread-closed = Die Nachricht, an der dieser Thread hing, ist weg.
follow-thread = Diesem Thread folgen
unfollow-thread = Diesem Thread nicht mehr folgen
answer-in-thread = In einem Thread antworten
answer-field = Im Thread antworten
answers = { $count ->
    [one] Eine Antwort
   *[other] { $count } Antworten
}
remove-previews = Linkvorschauen entfernen
