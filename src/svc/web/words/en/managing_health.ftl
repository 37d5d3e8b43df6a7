# How the server is doing, and whether its address works for others.

settings-health = Health
health-ok = All is well
health-notice = To mind
health-problem = Problem
health-is-database-sound = Everything that is written is kept.
health-is-database-not-kept = What is written is not kept, or the database is damaged.
health-do-database-not-kept = Look at the disk and the server’s log. Keep your backups, and restore the newest one if the database is damaged.
health-is-disk-roomy = { $free } are free on the disk.
health-is-disk-filling = { $free } are free on the disk.
health-do-disk-filling = Uploads and backups will fill it. Watch it, or make room.
health-is-disk-full = Only { $free } are free on the disk.
health-do-disk-full = Make room: when the disk is full, the server refuses every message.
health-is-joining-possible = People can join.
health-is-joining-impossible = Nobody can join: the server takes no kind of identity that it can check.
health-do-joining-impossible = The operator adds local to SVC_IDENTITY_TIERS, or sets SVC_OIDC_ISSUER.
health-is-address-reachable = The server listens for others, or a proxy does.
health-is-address-only-here = The server listens on its own computer only.
health-do-address-only-here = Start it with --host 0.0.0.0 --tls, or put a proxy with a certificate in front and set SVC_TRUSTED_PROXY_HOPS.
health-is-address-insecure = The server has no certificate, so browsers let nobody else sign in or talk.
health-do-address-insecure = Start it with --tls, or put a proxy with a certificate in front and set SVC_TRUSTED_PROXY_HOPS.
health-is-voice-connected = Calls work: the media service is connected.
health-is-voice-none = This server has no media service, so there are no calls.
health-do-voice-none = svc up starts one; otherwise the operator sets SFU_WS_HOST.
health-is-voice-unreachable = The media service cannot be reached: nobody can join a call.
health-do-voice-unreachable = See whether svc sfu runs and what it logs.
health-is-uploads-working = Uploads are worked on.
health-is-uploads-off = This server takes no uploads.
health-do-uploads-off = The operator sets STORAGE_BACKEND.
health-is-uploads-no-worker = { $count ->
    [0] No media worker asks for work.
    [one] 1 upload waits, and no media worker asks for work.
   *[other] { $count } uploads wait, and no media worker asks for work.
}
health-do-uploads-no-worker = Start svc worker with the same DATA_DIR; svc up does so.
health-is-backups-recent = There is a backup of the last 30 days on the server.
health-is-backups-old = The newest backup on the server is more than 30 days old.
health-do-backups-old = Make one, and keep a copy elsewhere.
health-is-backups-none = There is no backup on the server.
health-do-backups-none = Make one, and keep a copy elsewhere.
health-doctor = svc doctor, on the server’s machine, also looks at its clock, limits and ports, and at the address from outside.
health-again = Look again
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

## Whether the address works for others

reach-only-here = Only this computer can open { $address }.
reach-only-here-do = Links with it work for nobody else. Start the server with --host 0.0.0.0 --tls, or put it behind a name with a certificate, and open the page there.
reach-no-tls = Browsers let nobody sign in at { $address }: it is not https.
reach-no-tls-do = Start the server with --tls, or put a proxy with a certificate in front, and open the page at its https:// address.
reach-nearby = { $address } works in your own network only.
reach-nearby-do = For people elsewhere the server needs a public name: open the page there before you make links.
