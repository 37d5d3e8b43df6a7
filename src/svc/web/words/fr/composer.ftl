completion = Suggestions
completion-role = rôle
completion-group = groupe
emoji-choose = Choisir un emoji
emoji-more = Tous les emojis
drop-here = Dépose des fichiers pour les joindre
describe-file = Décrire { $name }
description = Description
description-hint = Ce que l’on y voit, pour les personnes qui ne le voient pas.
file-gone = Ce fichier n’existe plus.
picture-of = { $at } sur { $count }
picture-before = Image précédente
picture-after = Image suivante
open-file = Ouvrir dans un nouvel onglet
formatting = Mise en forme
format-bold = Gras
format-italic = Italique
format-underline = Souligné
format-code = Code
format-strike = Barré
format-spoiler = Masqué jusqu’au clic
news-count = { $count ->
    [one] 1 nouveau message
   *[other] { NUMBER($count) } nouveaux messages
}
pasted-as-file = Le texte est trop long pour un message ; il est donc joint en fichier.
too-long = Le texte est trop long pour un message de 4 000 caractères.
characters-left = { $count ->
    [one] { $count } caractère restant
   *[other] { $count } caractères restants
}
emoticons = Transformer les émoticônes en émojis
emoticons-hint = Ce que tu écris :) est envoyé comme 🙂. La touche Retour arrière juste après annule cela.
command-shrug = ¯\_(ツ)_/¯ à la fin de ton message
command-tableflip = (╯°□°)╯︵ ┻━┻ à la fin de ton message
command-unflip = ┬─┬ノ( º _ ºノ) à la fin de ton message
command-spoiler = Envoyer le texte masqué jusqu’à ce qu’on appuie dessus
command-nick = Changer ton nom ici
command-status = Changer ton statut ; sans texte, l’effacer
slow-mode-left = Mode lent : tu peux écrire de nouveau dans { $time }.
spoiler = Spoiler
spoiler-cover = Spoiler : { $kind ->
    [picture] une image
    [video] une vidéo
    [audio] un son
   *[file] un fichier
}. Afficher
spoiler-mark = Spoiler : masquer { $name } jusqu’à ce qu’on appuie dessus
voice-message = Message vocal
voice-record = Enregistrer un message vocal
recording = Enregistrement… { $time }
voice-attach = Joindre
