"""What the live socket says of itself, beyond signing in."""

from svc.chat.described import (
    BOOLEAN,
    TIME_MS,
    Described,
    Event,
    Pushed,
    asked,
    choice,
    integer,
    obj,
    string,
)

_LIMITS = obj(
    {"max_message_bytes": integer(1), "request_burst": integer(1), "requests_per_s": {"type": "number"}}
)
DESCRIBED = Described(
    events=[
        Event("ping", "Is the server there? Browsers hide the socket's own pings", reply=obj({})),
        Event(
            "in_sight",
            "Say whether the member has this page before their eyes; while one is, their devices do not ring",
            data=asked({"visible": BOOLEAN}),
            reply=obj({}),
        ),
        Event(
            "idle",
            "Say whether nobody has touched this page for a while; who says so on all pages is shown as idle",
            data=asked({"idle": BOOLEAN}),
            reply=obj({}),
        ),
        Event(
            "reauthenticate",
            "Show a fresh access token before the old one ends",
            data=asked({"access_token": string(4096, 1)}),
            reply=obj({"token_expires_at_ms": TIME_MS}),
            refusals=["token_invalid"],
        ),
    ],
    pushes=[
        Pushed(
            "hello",
            "Comes first on every socket",
            obj(
                {
                    "server_id": string(),
                    "heartbeat_ms": integer(1),
                    "authenticate_within_ms": integer(1),
                    "limits": _LIMITS,
                }
            ),
            to="whoever connects",
            kept=False,
        ),
        Pushed(
            "managed",
            "A list that is managed has changed; whoever shows it asks for it again",
            obj({"area": choice("backups", "bans", "bots", "invites", "overrides")}),
            to="who may see the list",
        ),
    ],
)
