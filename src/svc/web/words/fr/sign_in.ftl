## Sign-in

join-title = Rejoindre la conversation
join-server = Rejoindre { $server }
back-at = Te revoilà sur { $server }
people-here = { $count ->
    [0] Il n’y a pas encore de membre.
    [one] Un membre
   *[other] { $count } membres
}
online-now = { $count } en ligne
first-member = Personne n’est arrivé avant toi. Avec ce lien, le serveur t’appartient.
access-lost = Ce serveur ne te laisse plus entrer. { $reason }
insecure = Les navigateurs ne permettent de se connecter et d’utiliser le micro et la caméra que sur des adresses https://, ou sur cet ordinateur même à http://127.0.0.1. Demande l’adresse https:// de ce serveur à la personne qui le gère.
no-browser-storage = Ce navigateur ne conserve rien pour cette page. La fenêtre est peut-être privée. Tu n’es membre que jusqu’à ce que tu la fermes.
joins-closed = Ce serveur n’accepte personne en ce moment. La personne qui le gère l’a fermé. Réessaie plus tard.
sign-in-impossible = Personne ne peut se connecter ici : le serveur n’accepte que des comptes, et aucun fournisseur de comptes n’est configuré. Préviens la personne qui le gère.
your-name = Ton nom
name-missing = Saisis un nom.
name-wanted = C’est ta première visite ici. Choisis le nom que les autres verront.
name-given = « { $wanted } » est déjà pris : ton nom est « { $given } ». Tu peux le changer dans les paramètres.
invite-code = Code d’invitation
invite-hint = Il faut une invitation pour entrer. Colle le code ou le lien entier.
approval-message = Message à la modération (facultatif)
approval-hint = Quelqu’un doit approuver ton arrivée. Dis qui tu es.
server-rules = Les règles de ce serveur
accept-rules = J’accepte les règles
join = Rejoindre
joining = Connexion…
sign-in = Se connecter
sign-in-as = Se connecter en tant que { $name }
or = ou
continue-with = Continuer avec { $provider }
accounts-only = Ce serveur n’accepte que les comptes de { $provider }.
signed-in-at = Ta connexion chez { $provider } a réussi.
by-account = Avec ton compte { $provider }.
other-account = Utiliser un autre compte
sign-in-method-refused = Ce serveur n’accepte plus la méthode avec laquelle tu te connectais.
provider-cancelled = Tu n’as pas terminé la connexion chez { $provider }.
provider-mismatch = Cette connexion n’a pas été commencée dans cet onglet. Réessaie.
provider-refused = { $provider } a refusé la connexion : { $reason }
am-new = Je viens pour la première fois
have-code = Je suis déjà membre, sur un autre appareil
code = Code
code-text = Connecte cet appareil à ton profil existant.
code-hint = Tu le trouves sur ton autre appareil : Paramètres, Appareils. Si tu as perdu tous tes appareils, utilise le code de récupération que tu as gardé, ou demandes-en un au propriétaire du serveur ; les autres seront alors déconnectés.
code-missing = Saisis le code.
add-device = Ajouter cet appareil
have-certificate = Utiliser un certificat
certificate = Certificat
certificate-text = Ce serveur accepte les certificats de { $issuers }.
certificate-unreadable = Ce n’est pas un certificat. Un certificat est une longue ligne qui contient deux points.
certificate-other-key = Ce certificat correspond à la clé d’un autre navigateur. Demandes-en un pour la clé de ce navigateur.
public-key = La clé publique de ce navigateur
public-key-text = La personne qui délivre ton certificat en a besoin. Elle n’est pas secrète.
copy = Copier
load-file = Charger depuis un fichier
waiting-title = En attente d’approbation
waiting-text = Quelqu’un doit te laisser entrer. Laisse cette page ouverte : la suite se fera toute seule.
back-to-form = Revenir au formulaire
approval-refused-because = Ta demande d’entrée a été refusée : { $reason }
banned-because = Tu es banni de ce serveur : { $reason }

## First steps

first-steps = Ton serveur est prêt
step-number = Étape { $number } sur { $count }
step-skip = Passer
step-done = Fait :
step-name = Donne un nom à ton serveur
step-named = Ton serveur s’appelle { $name }
server-name-missing = Saisis un nom.
step-icon = Donne une icône à ton serveur
step-icon-given = Ton serveur a une icône
step-channel = Ajoute un salon pour un sujet qui t’intéresse
step-channel-do = Ajouter un salon
step-invite = Invite quelqu’un avec un lien
step-invite-do = Créer un lien
hide-first-steps = Masquer ces étapes
newcomer-title = Bienvenue sur { $server }
newcomer-channels = Ce qu’il y a ici
offer-title = Utile pour la suite
offer-notifications-text = Soyez au courant quand quelqu’un vous mentionne ou vous écrit.
offer-notifications = Activer les notifications
offer-code-text = Un code de récupération vous permet de revenir si vous perdez cet appareil.
offer-code = Créer un code de récupération
