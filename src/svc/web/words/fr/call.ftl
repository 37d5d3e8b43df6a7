## Devices. The names include their article, because they are inserted into sentences.

device-microphone = le microphone
device-camera = la caméra
device-screen = l’écran
device-loudspeaker = le haut-parleur
device-refused = Le navigateur n’a pas le droit d’utiliser { $device }. Autorise l’accès à côté de l’adresse, puis réessaie.
device-none = Impossible de trouver { $device } sur cet appareil.
device-busy = Un autre programme utilise { $device }.
device-insecure = Les navigateurs n’ouvrent { $device } que sur des adresses HTTPS. Demandes-en une à la personne qui gère ce serveur.
device-failed = Impossible d’ouvrir { $device } : { $message }
device-vanished = La connexion avec { $device } a été perdue. Un autre périphérique est utilisé s’il y en a un.
device-missing = Le périphérique que tu as choisi n’est pas connecté ({ $device }). Un autre est utilisé.
device-usual = Comme le navigateur
device-number = Périphérique { $number }
choose-microphone = Microphone
choose-camera = Caméra
choose-speaker = Haut-parleur
no-speaker-choice = Ce navigateur utilise le haut-parleur choisi par le système.
level = Niveau
test-sound = Jouer un son de test
settings-voice = Voix et vidéo
input = Quand on t’entend
input-voice = Quand tu parles
input-voice-hint = Ce qui est en dessous du seuil n’est pas envoyé.
input-push = Tant que tu maintiens une touche
input-push-hint = Fonctionne quand cette page reçoit le clavier, et pas pendant que tu écris.
threshold = Seuil
threshold-hint = Tout en bas : tout est envoyé.
push-key = Touche pour parler : { $key }
press-a-key = Appuie sur la touche
release = Millisecondes pendant lesquelles on t’entend après le relâchement
noise = Bruit autour de toi
noise-off = Le laisser
noise-off-hint = Rien n’est enlevé.
noise-usual = Le réduire
noise-usual-hint = Comme le fait ton navigateur.
noise-strong = Le réduire fortement
noise-strong-hint = Les claviers et ventilateurs disparaissent aussi. Sollicite un peu le processeur.
echo = Supprimer l’écho
gain = Régler automatiquement mon volume
music = Musique
music-hint = Stéréo à 128 kbit/s, rien n’est filtré. Pour les instruments, pas pour les pièces avec des haut-parleurs.
mirror = Afficher ma propre image en miroir
blur = Flouter mon arrière-plan
blur-hint = Si ta caméra le propose. Demande un peu de processeur.
blur-never = Ce navigateur ne peut pas flouter ton arrière-plan. Les réglages de caméra de ton système le peuvent peut-être.
blur-not-here = Ta caméra ne propose pas de flouter l’arrière-plan.

## Layout

in-focus = En vedette
call-menu = Plus d’options de l’appel
other-camera = Changer de caméra
layout-grid = Tous à la même taille
layout-speaker = La personne qui parle en grand
only-sound = Son uniquement
show-pictures = Afficher la vidéo
screen-options = Options de partage
screen-kind = Ce que vous partagez
screen-text = Texte : net
screen-motion = Mouvement : fluide
screen-size = Taille et fréquence
screen-size-automatic = Automatique : la taille de l’écran
screen-size-option = { $height }p, { $fps } images/s, jusqu’à { $mbps } Mbit/s
screen-size-hint = Les autres reçoivent moins si leur ligne ou la vôtre transporte moins.
pop-out = Dans une fenêtre à part
pin-tile = Épingler { $name }
unpin-tile = Désépingler { $name }
full-screen-of = { $name } en plein écran
person-options = Volume et qualité pour { $name }
volume = Volume
screen-volume = Volume de son écran
mute-for-me = Couper le son pour moi
muted-for-me = son coupé pour toi

## Quality

quality = Qualité de l’appel
quality-of-picture = Sa vidéo
quality-of-pictures = Vidéo des autres
quality-usual = Comme dans les paramètres
quality-automatic = Automatique
quality-automatic-hint = Des images plus petites, moins nombreuses ou aucune quand la connexion est lente, pour que tu entendes tout le monde.
quality-high = Complète
quality-high-hint = Toutes les images, même si le son en souffre.
quality-low = Moitié
quality-low-hint = Une image sur deux.
quality-saver = Économie
quality-saver-hint = Un quart des images.
less-data = Consommer moins de données
less-data-hint = Pour les forfaits limités : des images petites et moins nombreuses, dans les deux sens. Les voix et le texte des écrans partagés ne changent pas.
round-trip = Aller-retour
loss = Pertes
rate = Débit
path = Chemin
path-udp = UDP, direct
path-tcp = TCP
path-relay = par un relais
path-unknown = inconnu
pictures-of-others = Vidéo des autres
layers-wish = comme demandé
layers-line = réduite pour ta connexion
layers-paused = certaines en pause
downlink = Connexion vers toi
downlink-rate = { $reason ->
    [use] { NUMBER($kbps) } kbit/s, sans essayer plus
    [loss] { NUMBER($kbps) } kbit/s, des paquets se perdent
   *[other] { NUMBER($kbps) } kbit/s
}
picture-now = En ce moment
picture-paused = en pause
picture-size = { $layer ->
    [0] petite
    [1] moyenne
   *[other] taille réelle
}
picture-reason = { $reason ->
    [line] ta connexion ne permet pas plus
    [hidden] tu ne la vois pas
   *[source] rien de plus n’est envoyé
}
layers-asked = { $layer ->
    [0] une image sur quatre
    [1] une image sur deux
   *[other] toutes les images
}
sent-by-me = Envoyé par moi
received = Reçu
source-mic = microphone
source-camera = caméra
source-screen = écran
source-screen_audio = son de l’écran
source-unknown = inconnu
ms = { NUMBER($ms) } ms
rate-kbps = { NUMBER($kbps) } kbit/s
fps = { NUMBER($fps) } images/s
lost = { $share } perdus
jitter = gigue { NUMBER($ms) } ms
concealed = { $share } masqués
at-most = au plus { $value }
copy-report = Copier un rapport

## Hands, reactions and screens

call-text = Chat de l’appel
raise-hand = Lever la main
audience = Public { $count }
invite-to-speak = Inviter à parler
to-audience = Déplacer dans le public
stage-empty = Personne ne parle encore.
lower-hand = Baisser la main
lower-hand-of = Baisser la main de { $name }
hand-lowered = La modération a baissé ta main. Tu peux la lever de nouveau.
may-speak = Tu peux parler maintenant. Active ton micro quand tu veux.
raised-hands = Mains levées
hand-raised = main levée
shortcut-hand = Lever ou baisser la main
watch = Regarder
stop-watching = Ne plus regarder { $name }
withheld = { $reason ->
    [codec] Ce navigateur ne peut pas afficher cette image.
   *[no_line] Il y a trop d’images dans cet appel. Celle-ci arrivera quand une autre se terminera.
}
paused-slow = En pause : ta connexion est lente
withheld-sound = { $reason ->
    [codec] Ce navigateur ne peut pas lire sa voix.
   *[no_line] Il y a trop de voix dans cet appel. Tu entendras celle-ci quand une autre se terminera.
}
stop-screen-of = Arrêter l’écran de { $name }
stop-screen = Arrêter son écran
screen-stopped = La modération a arrêté ton écran. Pour le partager de nouveau, quitte l’appel et rejoins-le.
zoom-label = { $name } : plus et moins zooment, les flèches déplacent, 0 montre tout
zoom-reset = { $percent } % · tout montrer

## Why a call does not connect

trouble-offline = Cet appareil n’a pas de réseau. L’appel reprendra dès qu’il en aura un.
trouble-server = Le serveur ne répond pas. Vérifie ton réseau ; l’appel reprendra dès que le serveur répondra.
trouble-voice = Le serveur n’atteint pas son service de médias : il n’y a pas d’appels pour l’instant. Préviens la personne qui le gère ; le tien reprendra de lui-même.
trouble-signalling = Le serveur répond, mais sa ligne pour les appels ne s’ouvre pas. Un proxy ou une extension du navigateur bloque peut-être les WebSockets.
trouble-encryption = Le service de médias est joignable, mais quelque chose modifie en chemin ce qui est envoyé. Essaie un autre réseau ou coupe ton VPN.
trouble-lost = La ligne de l’appel est perdue. Elle est réessayée jusqu’à ce que cela marche.
trouble-path = { $ways ->
    [udp] Ce réseau ne laisse pas passer UDP vers le port { $port } du serveur.
   *[both] Ce réseau ne laisse passer ni UDP ni TCP vers le port { $port } du serveur.
}
trouble-relay = { $relay ->
    [refused] Le relais refuse le mot de passe du serveur : préviens la personne qui gère le serveur.
    [silent] Le relais n’est pas joignable non plus.
   *[useless] Le relais répond mais ne mène nulle part : préviens la personne qui gère le serveur.
}
trouble-elsewhere = Essaie un autre réseau, comme celui de ton téléphone, ou un VPN.

## Features this browser lacks

call-never = Ce navigateur ne peut participer à aucun appel. Utilisez une version récente de Chrome, Edge, Firefox ou Safari. Si le mode Isolement est activé, excluez-en cette page.
screen-never = Ce navigateur ne peut pas partager d’écran. Ceux des ordinateurs le peuvent.
screen-insecure = Les navigateurs ne partagent un écran que sur des adresses HTTPS. Demandes-en une à ton hôte.
screen-silent = L’écran est partagé sans le son, sinon chacun s’entendrait soi-même. Partage un onglet pour partager son son.
pop-out-never = Ce navigateur n’a pas de fenêtres qui restent au-dessus des autres. Chrome et Edge sur ordinateur en ont.
pop-out-nothing = Personne ne montre d’image qui pourrait tenir dans une fenêtre à part.

## Calls in encrypted channels

channel-encrypted = chiffré
call-encrypted = Cet appel est chiffré
call-encrypted-text = Seuls les appareils présents dans cet appel peuvent l’entendre et le voir. Le serveur le transmet sans en avoir la clé. Il voit toutefois qui est là et qui parle. Ce qui est écrit à côté de l’appel n’est pas chiffré.
call-encrypted-who = { $count ->
    [one] Un appareil a les clés, celui de { $names }.
   *[other] { $count } appareils ont les clés, ceux de { $names }.
  }
call-encrypted-alone = Il n’y a encore personne d’autre ici, donc pas de clés.
call-encrypted-number = Comparez ce numéro pendant l’appel. Si vous lisez tous le même et que vous êtes { $count }, personne d’autre ne peut écouter. Il change quand quelqu’un arrive ou part.
call-encrypted-uninvited = Un appareil de { $names } a les clés de cet appel et n’y apparaît pas. Quelqu’un écoute peut-être.
call-encrypted-hint = Ici, les appels sont chiffrés : seules les personnes présentes peuvent les entendre et les voir.
call-encrypted-off = Ce salon n’est plus chiffré, tu as donc quitté son appel.
