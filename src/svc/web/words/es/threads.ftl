thread = Hilo
threads = Hilos que sigues
no-threads = Todavía no sigues ningún hilo. Responde a un mensaje en un hilo y aparecerá aquí.
thread-closed = El mensaje del que colgaba este hilo ya no existe.
follow-thread = Seguir este hilo
unfollow-thread = Dejar de seguir este hilo
answer-in-thread = Responder en un hilo
answer-field = Responder en el hilo
answers = { $count ->
    [one] Una respuesta
   *[other] { $count } respuestas
}
remove-previews = Quitar las vistas previas de los enlaces
