thread = Fil
threads = Fils que tu suis
no-threads = Tu ne suis encore aucun fil. Réponds à un message dans un fil, et il apparaîtra ici.
thread-closed = Le message à l’origine de ce fil n’existe plus.
follow-thread = Suivre ce fil
unfollow-thread = Ne plus suivre ce fil
answer-in-thread = Répondre dans un fil
answer-field = Répondre dans le fil
answers = { $count ->
    [one] { $count } réponse
   *[other] { $count } réponses
}
remove-previews = Retirer les aperçus des liens
