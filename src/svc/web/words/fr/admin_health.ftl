# The server's health, and whether others can reach its URL.

settings-health = État
health-ok = Tout va bien
health-notice = À noter
health-problem = Problème
health-is-database-sound = Tout ce qui est écrit est conservé.
health-is-database-not-kept = Ce qui est écrit n’est pas conservé, ou la base de données est endommagée.
health-do-database-not-kept = Regarde le disque et le journal du serveur. Garde tes sauvegardes, et restaure la plus récente si la base de données est endommagée.
health-is-disk-roomy = Il reste { $free } sur le disque.
health-is-disk-filling = Il reste { $free } sur le disque.
health-do-disk-filling = Les fichiers et les sauvegardes vont le remplir. Surveille-le ou fais de la place.
health-is-disk-full = Il ne reste que { $free } sur le disque.
health-do-disk-full = Fais de la place : quand le disque est plein, le serveur refuse tous les messages.
health-is-clock-kept = L’horloge de la machine est à l’heure.
health-is-clock-unknown = Ici, rien ne dit si l’horloge est à l’heure.
health-is-clock-adrift = Rien ne garde l’horloge de la machine à l’heure.
health-do-clock-adrift = Active la synchronisation de l’heure (timedatectl set-ntp true) : les sessions expirent selon l’horloge.
health-is-files-ample = La machine laisse le serveur ouvrir assez de fichiers.
health-is-files-few = La machine laisse le serveur ouvrir peu de fichiers à la fois ; chaque page ouverte en demande un.
health-do-files-few = Relève la limite à 4096 ou plus (ulimit -n, ou LimitNOFILE= dans l’unité).
health-is-buffers-ample = Les tampons de la machine sont assez grands.
health-is-buffers-small = Les tampons de la machine sont petits : avec beaucoup d’images, les appels perdent des paquets.
health-do-buffers-small = Relève net.core.rmem_max et net.core.wmem_max ; svc doctor montre les commandes.
health-is-joining-possible = On peut rejoindre le serveur.
health-is-joining-impossible = Personne ne peut rejoindre : le serveur n’accepte aucune identité qu’il puisse vérifier.
health-do-joining-impossible = La personne qui l’exploite ajoute local à SVC_IDENTITY_TIERS, ou définit SVC_OIDC_ISSUER.
health-is-address-reachable = Le serveur, ou un proxy devant lui, est là pour les autres.
health-is-address-only-here = Le serveur n’écoute que sur son propre ordinateur.
health-do-address-only-here = Démarre-le avec --host 0.0.0.0 --tls, ou place devant lui un proxy avec un certificat et définis SVC_TRUSTED_PROXY_HOPS.
health-is-address-insecure = Le serveur n’a pas de certificat : les navigateurs ne laissent personne d’autre se connecter ni parler.
health-do-address-insecure = Démarre-le avec --tls, ou place devant lui un proxy avec un certificat et définis SVC_TRUSTED_PROXY_HOPS.
health-is-voice-connected = Les appels fonctionnent : le service média est connecté.
health-is-voice-none = Ce serveur n’a pas de service média, donc pas d’appels.
health-do-voice-none = svc up en démarre un ; sinon, la personne qui l’exploite définit SFU_WS_HOST.
health-is-voice-unreachable = Le service média est injoignable : personne ne peut entrer dans un appel.
health-do-voice-unreachable = Regarde si svc sfu tourne et ce qu’il journalise.
health-is-uploads-working = Les fichiers sont traités.
health-is-uploads-off = Ce serveur n’accepte pas de fichiers.
health-do-uploads-off = La personne qui l’exploite définit STORAGE_BACKEND.
health-is-uploads-no-worker = { $count ->
    [0] Aucun processus média ne demande de travail.
    [one] 1 fichier attend, et aucun processus média ne demande de travail.
   *[other] { $count } fichiers attendent, et aucun processus média ne demande de travail.
}
health-do-uploads-no-worker = Démarre svc worker avec le même DATA_DIR ; svc up le fait.
health-is-backups-recent = Il y a sur le serveur une sauvegarde des 30 derniers jours.
health-is-backups-old = La sauvegarde la plus récente du serveur a plus de 30 jours.
health-do-backups-old = Crées-en une et garde une copie ailleurs.
health-is-backups-none = Il n’y a pas de sauvegarde sur le serveur.
health-do-backups-none = Crées-en une et garde une copie ailleurs.
health-doctor = svc doctor, sur la machine du serveur, regarde aussi les ports et l’adresse vue de l’extérieur, que le serveur ne voit pas lui-même.
health-again = Regarder à nouveau
health-versions = Versions
health-since = En marche depuis
health-connected = { $count ->
    [one] 1 membre est connecté
   *[other] { $count } membres sont connectés
}
health-in-calls = { $count ->
    [0] Personne n’est en appel.
    [one] 1 connexion à un appel.
   *[other] { $count } connexions à des appels.
}
health-pages = { $count ->
    [one] 1 page ouverte
   *[other] { $count } pages ouvertes
}

## Whether others can reach the URL

reach-only-here = Seul cet ordinateur peut ouvrir { $address }.
reach-only-here-do = Ses liens ne fonctionnent pour personne d’autre. Démarre le serveur avec --host 0.0.0.0 --tls, ou donne-lui un nom avec un certificat, et ouvre la page à cet endroit.
reach-no-tls = Les navigateurs ne laissent personne se connecter à { $address } : ce n’est pas https.
reach-no-tls-do = Démarre le serveur avec --tls, ou place devant lui un proxy avec un certificat, et ouvre la page à son adresse https://.
reach-nearby = { $address } ne fonctionne que dans ton propre réseau.
reach-nearby-do = Pour les gens d’ailleurs, le serveur a besoin d’un nom public : ouvre la page à ce nom avant de créer des liens.
