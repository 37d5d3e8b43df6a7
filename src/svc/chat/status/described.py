"""What is said of the server's state."""

from svc.chat.described import (
    BOOLEAN,
    ID,
    TIME_MS,
    Described,
    Endpoint,
    array,
    choice,
    integer,
    nullable,
    obj,
    string,
)
from svc.chat.status.report import CHECKS, MAX_LISTED, VERDICTS

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
_CHECK = obj(
    {
        "check": choice(*CHECKS),
        "verdict": choice(*VERDICTS),
        "state": choice(*dict.fromkeys(state for states in CHECKS.values() for state in states)),
    },
    # Free on the disk; uploads that nobody works on yet.
    {"bytes": integer(0), "waiting": integer(0)},
)
_REPORT = obj(
    {
        "versions": obj(dict.fromkeys(("server", "python", "sqlite"), string())),
        "started_at_ms": TIME_MS,
        "checks": array(_CHECK),
        "connected": array(obj({"member_id": ID, "pages": integer(1)}), MAX_LISTED),
        **dict.fromkeys(("connected_members", "in_calls"), integer(0)),
    }
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
        Endpoint("GET /api/health", "How the server is doing, and who is connected", _REPORT),
        Endpoint("GET /metrics", "Measurements for Prometheus", answer=string(), media_type="text/plain"),
    ],
)
