"""What backups say of themselves, for people and for programs."""

from svc.chat.described import (
    TIME_MS,
    Described,
    Endpoint,
    Named,
    Pushed,
    array,
    integer,
    nullable,
    obj,
    string,
)

_BACKUP = obj({"name": string(), "bytes": integer(0), "made_at_ms": TIME_MS})
_MAKING = obj({"what": string(), "done": integer(0), "total": integer(0)})
_BACKUPS = Named(
    "Backups",
    obj({"backups": array(_BACKUP), "making": nullable(_MAKING), "fault": nullable(string())}),
)

DESCRIBED = Described(
    endpoints=[
        Endpoint("GET /api/backups", "Backups that the server keeps, and one that is being made", _BACKUPS),
        Endpoint(
            "POST /api/backups",
            "Make a backup, which goes on by itself",
            _BACKUPS,
            202,
            refusals=["too_many"],
        ),
        Endpoint(
            "GET /api/backups/{name}",
            "Download a backup, which holds every secret of the server",
            string(),
            media_type="application/gzip",
            refusals=["too_many_connections", "unknown_backup"],
        ),
        Endpoint("DELETE /api/backups/{name}", "Delete a backup", refusals=["unknown_backup"]),
        Endpoint(
            "POST /api/backups/{name}/link",
            "An address at which a backup can be downloaded once, within a minute",
            obj({"url": string(), "expires_at_ms": TIME_MS}),
            201,
            refusals=["unknown_backup"],
        ),
        Endpoint(
            "GET /api/backup-links/{token}",
            "Download a backup by such an address",
            string(),
            media_type="application/gzip",
            refusals=["too_many_connections", "unknown_backup"],
        ),
    ],
    pushes=[
        Pushed(
            "backup_finished",
            "A backup has been made, or could not be",
            obj({"name": nullable(string()), "fault": nullable(string())}),
            to="the owner",
        )
    ],
)
