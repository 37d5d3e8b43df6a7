## Sign-in

join-title = Komm dazu
join-server = { $server } beitreten
back-at = Willkommen zurück bei { $server }
people-here = { $count ->
    [0] Noch niemand ist Mitglied.
    [one] Ein Mitglied
   *[other] { $count } Mitglieder
}
online-now = { $count } online
first-member = Vor dir war noch niemand hier. Mit diesem Link wirst du Besitzer des Servers.
access-lost = Dieser Server lässt dich nicht mehr herein. { $reason }
insecure = Anmeldung, Mikrofon und Kamera erlauben Browser nur bei https://-Adressen oder auf genau diesem Computer unter http://127.0.0.1. Frag den Betreiber dieses Servers nach seiner https://-Adresse.
no-browser-storage = Dieser Browser speichert nichts für diese Seite. Vielleicht ist das Fenster privat. Du bist nur Mitglied, bis du es schließt.
joins-closed = Dieser Server nimmt gerade niemanden auf. Sein Betreiber hat ihn geschlossen. Versuch es später noch einmal.
sign-in-impossible = Hier kann sich niemand anmelden: Der Server lässt nur Konten zu, aber es ist kein Anbieter für Konten eingerichtet. Sag dem Betreiber Bescheid.
your-name = Dein Name
name-missing = Bitte gib einen Namen ein.
name-wanted = Du bist neu hier. Wähle den Namen, den die anderen sehen.
name-given = „{ $wanted }“ ist hier vergeben, deshalb heißt du „{ $given }“. In den Einstellungen kannst du das ändern.
invite-code = Einladungscode
invite-hint = Zum Beitreten brauchst du eine Einladung. Füge den Code oder den ganzen Link ein.
approval-message = Nachricht an die Moderation (optional)
approval-hint = Dein Beitritt muss noch bestätigt werden. Schreib kurz, wer du bist.
server-rules = Die Regeln dieses Servers
accept-rules = Ich akzeptiere die Regeln
join = Beitreten
joining = Du trittst bei…
sign-in = Anmelden
sign-in-as = Als { $name } anmelden
or = oder
continue-with = Weiter mit { $provider }
accounts-only = Dieser Server lässt nur Konten von { $provider } zu.
signed-in-at = Du hast dich bei { $provider } angemeldet.
by-account = Mit deinem Konto bei { $provider }.
other-account = Anderes Konto verwenden
sign-in-method-refused = Auf dem Weg, auf dem du dich früher angemeldet hast, lässt dich dieser Server nicht mehr herein.
provider-cancelled = Du hast die Anmeldung bei { $provider } nicht abgeschlossen.
provider-mismatch = Diese Anmeldung wurde nicht in diesem Tab begonnen. Versuch es noch einmal.
provider-refused = { $provider } hat die Anmeldung abgelehnt: { $reason }
am-new = Ich bin neu hier
have-code = Ich bin schon Mitglied, auf einem anderen Gerät
code = Code
code-text = Melde dich auf diesem Gerät als das Mitglied an, das du schon bist.
code-hint = Von deinem anderen Gerät: Einstellungen, Geräte. Wenn du alle deine Geräte verloren hast, nimm deinen Wiederherstellungscode, oder bitte den Besitzer des Servers um einen; die anderen werden dann abgemeldet.
code-missing = Bitte gib den Code ein.
add-device = Dieses Gerät hinzufügen
have-certificate = Zertifikat verwenden
certificate = Zertifikat
certificate-text = Dieser Server akzeptiert Zertifikate von { $issuers }.
certificate-unreadable = Das ist kein Zertifikat. Ein Zertifikat ist eine lange Zeile mit zwei Punkten darin.
certificate-other-key = Dieses Zertifikat gehört zum Schlüssel eines anderen Browsers. Bitte um eines für den Schlüssel dieses Browsers.
public-key = Der öffentliche Schlüssel dieses Browsers
public-key-text = Wer dein Zertifikat ausstellt, braucht ihn. Er ist nicht geheim.
copy = Kopieren
load-file = Aus einer Datei laden
waiting-title = Warten auf Bestätigung
waiting-text = Jemand muss dich noch hereinlassen. Lass diese Seite offen: Es geht von selbst weiter.
back-to-form = Zurück zum Formular
approval-refused-because = Du wurdest nicht hereingelassen: { $reason }
banned-because = Du bist auf diesem Server gebannt: { $reason }

## First steps

first-steps = Dein Server ist bereit
step-number = Schritt { $number } von { $count }
step-skip = Überspringen
step-done = Erledigt:
step-name = Gib deinem Server einen Namen
step-named = Dein Server heißt { $name }
server-name-missing = Bitte gib einen Namen ein.
step-icon = Gib deinem Server ein Symbol
step-icon-given = Dein Server hat ein Symbol
step-channel = Füge einen Kanal für ein eigenes Thema hinzu
step-channel-do = Kanal hinzufügen
step-invite = Lade jemanden mit einem Link ein
step-invite-do = Link erstellen
hide-first-steps = Diese Schritte ausblenden
newcomer-title = Willkommen bei { $server }
newcomer-channels = Was es hier gibt
offer-title = Gut für später
offer-notifications-text = Erfahre davon, wenn dich jemand erwähnt oder dir schreibt.
offer-notifications = Benachrichtigungen einschalten
offer-code-text = Mit einem Wiederherstellungscode kommst du zurück, wenn du dieses Gerät verlierst.
offer-code = Wiederherstellungscode erstellen
