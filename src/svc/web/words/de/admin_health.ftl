# The server's health, and whether others can reach its URL.

settings-health = Zustand
health-ok = Alles in Ordnung
health-notice = Hinweis
health-problem = Problem
health-is-database-sound = Alles Geschriebene bleibt erhalten.
health-is-database-not-kept = Geschriebenes wird nicht gespeichert, oder die Datenbank ist beschädigt.
health-do-database-not-kept = Sieh nach der Festplatte und dem Protokoll des Servers. Behalte deine Sicherungen, und spiele die neueste ein, wenn die Datenbank beschädigt ist.
health-is-disk-roomy = Auf der Festplatte sind { $free } frei.
health-is-disk-filling = Auf der Festplatte sind { $free } frei.
health-do-disk-filling = Uploads und Sicherungen werden sie füllen. Behalte das im Auge oder schaffe Platz.
health-is-disk-full = Auf der Festplatte sind nur { $free } frei.
health-do-disk-full = Schaffe Platz: Ist die Festplatte voll, weist der Server jede Nachricht ab.
health-is-clock-kept = Die Uhr des Rechners geht richtig.
health-is-clock-unknown = Ob die Uhr richtig geht, lässt sich hier nicht prüfen.
health-is-clock-adrift = Niemand stellt die Uhr des Rechners nach.
health-do-clock-adrift = Schalte den Zeitabgleich ein (timedatectl set-ntp true): Anmeldungen laufen nach der Uhr ab.
health-is-files-ample = Der Rechner lässt den Server genug Dateien öffnen.
health-is-files-few = Der Rechner lässt den Server nur wenige Dateien zugleich öffnen; jede offene Seite braucht eine.
health-do-files-few = Erhöhe die Grenze auf 4096 oder mehr (ulimit -n, oder LimitNOFILE= in der Unit).
health-is-buffers-ample = Die Puffer des Rechners sind groß genug.
health-is-buffers-small = Die Puffer des Rechners sind klein: Bei viel Video verlieren Anrufe Pakete.
health-do-buffers-small = Erhöhe net.core.rmem_max und net.core.wmem_max; svc doctor zeigt die Befehle.
health-is-joining-possible = Man kann beitreten.
health-is-joining-impossible = Niemand kann beitreten: Der Server nimmt keine Art von Identität an, die er prüfen kann.
health-do-joining-impossible = Der Betreiber ergänzt local in SVC_IDENTITY_TIERS oder setzt SVC_OIDC_ISSUER.
health-is-address-reachable = Der Server, oder ein Proxy davor, ist für andere da.
health-is-address-only-here = Der Server hört nur auf seinem eigenen Rechner.
health-do-address-only-here = Starte ihn mit --host 0.0.0.0 --tls, oder stelle einen Proxy mit Zertifikat davor und setze SVC_TRUSTED_PROXY_HOPS.
health-is-address-insecure = Der Server hat kein Zertifikat; Browser lassen deshalb niemand anderen sich anmelden oder sprechen.
health-do-address-insecure = Starte ihn mit --tls, oder stelle einen Proxy mit Zertifikat davor und setze SVC_TRUSTED_PROXY_HOPS.
health-is-voice-connected = Anrufe gehen: Der Mediendienst ist verbunden.
health-is-voice-none = Dieser Server hat keinen Mediendienst, also keine Anrufe.
health-do-voice-none = svc up startet einen; sonst setzt der Betreiber SFU_WS_HOST.
health-is-voice-unreachable = Der Mediendienst ist nicht zu erreichen: Niemand kann einem Anruf beitreten.
health-do-voice-unreachable = Sieh nach, ob svc sfu läuft und was es protokolliert.
health-is-uploads-working = Uploads werden bearbeitet.
health-is-uploads-off = Dieser Server nimmt keine Uploads an.
health-do-uploads-off = Der Betreiber setzt STORAGE_BACKEND.
health-is-uploads-no-worker = { $count ->
    [0] Kein Medien-Worker fragt nach Arbeit.
    [one] 1 Upload wartet, und kein Medien-Worker fragt nach Arbeit.
   *[other] { $count } Uploads warten, und kein Medien-Worker fragt nach Arbeit.
}
health-do-uploads-no-worker = Starte svc worker mit demselben DATA_DIR; svc up tut das.
health-is-backups-recent = Auf dem Server liegt eine Sicherung der letzten 30 Tage.
health-is-backups-old = Die neueste Sicherung auf dem Server ist älter als 30 Tage.
health-do-backups-old = Erstelle eine und bewahre eine Kopie anderswo auf.
health-is-backups-none = Auf dem Server liegt keine Sicherung.
health-do-backups-none = Erstelle eine und bewahre eine Kopie anderswo auf.
health-doctor = svc doctor, auf dem Rechner des Servers, prüft auch die Ports und die Adresse von außen, die der Server selbst nicht sieht.
health-again = Erneut prüfen
health-versions = Versionen
health-since = Läuft seit
health-connected = { $count ->
    [one] 1 Mitglied ist verbunden
   *[other] { $count } Mitglieder sind verbunden
}
health-in-calls = { $count ->
    [0] Niemand ist in einem Anruf.
    [one] 1 Verbindung zu einem Anruf.
   *[other] { $count } Verbindungen zu Anrufen.
}
health-pages = { $count ->
    [one] 1 Seite offen
   *[other] { $count } Seiten offen
}

## Whether others can reach the URL

reach-only-here = Nur dieser Computer kann { $address } öffnen.
reach-only-here-do = Links damit gehen bei niemandem sonst. Starte den Server mit --host 0.0.0.0 --tls, oder gib ihm einen Namen mit Zertifikat, und öffne die Seite dort.
reach-no-tls = Browser lassen niemanden sich bei { $address } anmelden: Es ist nicht https.
reach-no-tls-do = Starte den Server mit --tls, oder stelle einen Proxy mit Zertifikat davor, und öffne die Seite unter ihrer https://-Adresse.
reach-nearby = { $address } geht nur in deinem eigenen Netz.
reach-nearby-do = Für Leute anderswo braucht der Server einen öffentlichen Namen: Öffne die Seite dort, bevor du Links erstellst.
