"""What is said of the server's state."""

from svc.chat.described import (
    BOOLEAN,
    Described,
    Endpoint,
    array,
    choice,
    integer,
    nullable,
    obj,
    string,
)

_HEALTH = obj(
    {
        "status": {"const": "healthy"},
        "service": {"const": "chat"},
        "serverName": string(),
        "timestamp": string(format="date-time"),
    }
)
_INFO = obj(
    {
        "serverId": string(),
        "name": string(),
        "description": string(),
        "members": integer(0),
        "lanOpen": BOOLEAN,
        "identityTiers": array(choice("account", "local")),
        "joinPolicy": choice("invite", "open"),
        "iconUrl": nullable(string()),
    },
    {"version": string()},
)
DESCRIBED = Described(
    endpoints=[
        Endpoint("GET /health", "Is the server up?", answer=_HEALTH),
        Endpoint("GET /info", "What somebody who is invited sees; `version` for members only", answer=_INFO),
        Endpoint("GET /metrics", "Measurements for Prometheus", answer=string(), media_type="text/plain"),
    ],
)
