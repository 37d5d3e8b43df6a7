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
        "status": choice("healthy", "degraded"),
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
        "signIn": obj(
            {
                "open": BOOLEAN,
                "local": BOOLEAN,
                "account": nullable(obj({"issuer": string(), "clientId": string()})),
                "certificateIssuers": array(string()),
            }
        ),
        "joinPolicy": choice("invite", "open"),
        "iconUrl": nullable(string()),
        "rules": string(),
        "rulesVersion": string(),
    },
    {"instanceId": string(), "version": string()},
)
DESCRIBED = Described(
    endpoints=[
        Endpoint(
            "GET /health",
            "Is the server up, and does it keep what is written?",
            answer=_HEALTH,
            otherwise=(503, "Writes are not kept, or the database is damaged: `degraded`"),
        ),
        Endpoint("GET /info", "What somebody who is invited sees; `version` for members only", answer=_INFO),
        Endpoint("GET /metrics", "Measurements for Prometheus", answer=string(), media_type="text/plain"),
    ],
)
