# The server's health, and whether others can reach its URL.

settings-health = Health
health-ok = OK
health-notice = Notice
health-problem = Problem
health-is-database-sound = The database is working.
health-is-database-not-kept = New data isn’t saved, or the database is damaged.
health-do-database-not-kept = Check the disk and the server’s log. Keep your backups. If the database is damaged, restore the newest one.
health-is-disk-roomy = { $free } of disk space is free.
health-is-disk-filling = { $free } of disk space is free.
health-do-disk-filling = Uploads and backups will fill the disk. Keep an eye on it, or free up space.
health-is-disk-full = Only { $free } of disk space is free.
health-do-disk-full = Free up space. When the disk is full, the server rejects all messages.
health-is-clock-kept = The machine’s clock is synchronised.
health-is-clock-unknown = The machine’s clock can’t be checked here.
health-is-clock-adrift = The machine’s clock isn’t synchronised.
health-do-clock-adrift = Turn on time synchronisation (timedatectl set-ntp true). Sign-ins expire by the clock.
health-is-files-ample = The limit on open files is high enough.
health-is-files-few = The limit on open files is low. Each open page needs one.
health-do-files-few = Raise the limit to 4096 or more (ulimit -n, or LimitNOFILE= in the unit).
health-is-buffers-ample = The network buffers are large enough.
health-is-buffers-small = The network buffers are small. Busy calls will lose packets.
health-do-buffers-small = Raise net.core.rmem_max and net.core.wmem_max. svc doctor prints the commands.
health-is-joining-possible = People can join.
health-is-joining-impossible = Nobody can join: the server accepts no sign-in method that it can verify.
health-do-joining-impossible = The operator must add local to SVC_IDENTITY_TIERS, or set SVC_OIDC_ISSUER.
health-is-address-reachable = The server or a proxy accepts connections from other computers.
health-is-address-only-here = The server accepts connections only from its own computer.
health-do-address-only-here = Start it with --host 0.0.0.0 --tls, or set up a proxy with a certificate and set SVC_TRUSTED_PROXY_HOPS.
health-is-address-insecure = The server has no certificate, so browsers don’t let anyone else sign in or join calls.
health-do-address-insecure = Start it with --tls, or set up a proxy with a certificate and set SVC_TRUSTED_PROXY_HOPS.
health-is-voice-connected = Calls work: the media service is connected.
health-is-voice-none = This server has no media service, so calls aren’t available.
health-do-voice-none = svc up starts one. Otherwise, the operator must set SFU_WS_HOST.
health-is-voice-unreachable = The media service can’t be reached, so nobody can join calls.
health-do-voice-unreachable = Check that svc sfu is running, and read its log.
health-is-uploads-working = Uploads are processed.
health-is-uploads-off = This server doesn’t accept uploads.
health-do-uploads-off = The operator must set STORAGE_BACKEND.
health-is-uploads-no-worker = { $count ->
    [0] No media worker is connected.
    [one] 1 upload is waiting, and no media worker is connected.
   *[other] { $count } uploads are waiting, and no media worker is connected.
}
health-do-uploads-no-worker = Start svc worker with the same DATA_DIR, or use svc up.
health-is-backups-recent = The newest backup on the server is less than 30 days old.
health-is-backups-old = The newest backup on the server is more than 30 days old.
health-do-backups-old = Create a new one, and keep a copy somewhere else.
health-is-backups-none = There are no backups on the server.
health-do-backups-none = Create one, and keep a copy somewhere else.
health-doctor = Run svc doctor on the server’s machine to also check the ports and the public address, which the server can’t check itself.
health-again = Check again
health-versions = Versions
health-since = Running since
health-connected = { $count ->
    [one] 1 member is connected
   *[other] { $count } members are connected
}
health-in-calls = { $count ->
    [0] Nobody is in a call
    [one] 1 call connection
   *[other] { $count } call connections
}
health-pages = { $count ->
    [one] 1 page open
   *[other] { $count } pages open
}

## Whether others can reach the URL

reach-only-here = { $address } works only on this computer.
reach-only-here-do = Links to it won’t work for anyone else. Start the server with --host 0.0.0.0 --tls, or put it behind a domain name with a certificate, and open the page there.
reach-no-tls = Browsers don’t let anyone sign in at { $address }, because it isn’t https.
reach-no-tls-do = Start the server with --tls, or set up a proxy with a certificate, and open the page at its https:// address.
reach-nearby = { $address } works only on your local network.
reach-nearby-do = For people elsewhere, the server needs a public domain name. Open the page at that name before you create links.
