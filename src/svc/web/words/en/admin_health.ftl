# The server's health, and whether others can reach its address.

settings-health = Health
health-ok = All is well
health-notice = Notice
health-problem = Problem
health-is-database-sound = New data is saved.
health-is-database-not-kept = New data is not saved, or the database is damaged.
health-do-database-not-kept = Check the disk and the server’s log. Keep your backups, and restore the newest one if the database is damaged.
health-is-disk-roomy = { $free } are free on the disk.
health-is-disk-filling = { $free } are free on the disk.
health-do-disk-filling = Uploads and backups will fill it. Watch it, or make room.
health-is-disk-full = Only { $free } are free on the disk.
health-do-disk-full = Make room: when the disk is full, the server refuses every message.
health-is-clock-kept = The machine’s clock is synchronised.
health-is-clock-unknown = The machine’s clock cannot be checked here.
health-is-clock-adrift = The machine’s clock is not synchronised.
health-do-clock-adrift = Switch on time synchronisation (timedatectl set-ntp true): sign-ins expire by the clock.
health-is-files-ample = The machine gives the server enough open files.
health-is-files-few = The machine lets the server open few files at once; each open page needs one.
health-do-files-few = Raise the limit to 4096 or more (ulimit -n, or LimitNOFILE= in the unit).
health-is-buffers-ample = The machine’s buffers are large enough.
health-is-buffers-small = The machine’s buffers are small: with much media, calls lose packets.
health-do-buffers-small = Raise net.core.rmem_max and net.core.wmem_max; svc doctor prints the commands.
health-is-joining-possible = People can join.
health-is-joining-impossible = Nobody can join: the server accepts no kind of identity that it can check.
health-do-joining-impossible = The operator must add local to SVC_IDENTITY_TIERS, or set SVC_OIDC_ISSUER.
health-is-address-reachable = The server or a proxy accepts connections from other computers.
health-is-address-only-here = The server accepts connections from its own computer only.
health-do-address-only-here = Start it with --host 0.0.0.0 --tls, or put a proxy with a certificate in front and set SVC_TRUSTED_PROXY_HOPS.
health-is-address-insecure = The server has no certificate, so browsers do not let anyone else sign in or talk.
health-do-address-insecure = Start it with --tls, or put a proxy with a certificate in front and set SVC_TRUSTED_PROXY_HOPS.
health-is-voice-connected = Calls work: the media service is connected.
health-is-voice-none = This server has no media service, so there are no calls.
health-do-voice-none = svc up starts one. Otherwise the operator must set SFU_WS_HOST.
health-is-voice-unreachable = The media service cannot be reached: nobody can join a call.
health-do-voice-unreachable = Check that svc sfu is running, and read its log.
health-is-uploads-working = Uploads are processed.
health-is-uploads-off = This server does not accept uploads.
health-do-uploads-off = The operator must set STORAGE_BACKEND.
health-is-uploads-no-worker = { $count ->
    [0] No media worker is connected.
    [one] 1 upload is waiting, and no media worker is connected.
   *[other] { $count } uploads are waiting, and no media worker is connected.
}
health-do-uploads-no-worker = Start svc worker with the same DATA_DIR, or use svc up.
health-is-backups-recent = There is a backup of the last 30 days on the server.
health-is-backups-old = The newest backup on the server is more than 30 days old.
health-do-backups-old = Make one, and keep a copy elsewhere.
health-is-backups-none = There is no backup on the server.
health-do-backups-none = Make one, and keep a copy elsewhere.
health-doctor = svc doctor, on the server’s machine, also checks the ports and the address from outside, which the server cannot see itself.
health-again = Check again
health-versions = Versions
health-since = Running since
health-connected = { $count ->
    [one] 1 member is connected
   *[other] { $count } members are connected
}
health-in-calls = { $count ->
    [0] Nobody is in a call.
    [one] 1 connection to a call.
   *[other] { $count } connections to calls.
}
health-pages = { $count ->
    [one] 1 page open
   *[other] { $count } pages open
}

## Whether others can reach the address

reach-only-here = Only this computer can open { $address }.
reach-only-here-do = Nobody else can use links with it. Start the server with --host 0.0.0.0 --tls, or put it behind a name with a certificate, and open the page there.
reach-no-tls = Browsers do not let anyone sign in at { $address }: it is not https.
reach-no-tls-do = Start the server with --tls, or put a proxy with a certificate in front, and open the page at its https:// address.
reach-nearby = { $address } works in your own network only.
reach-nearby-do = For people elsewhere the server needs a public name. Open the page there before you make links.
