"""What is said of the server's state."""

from svc.chat.described import Described, Endpoint, obj, string

_HEALTH = obj(
    {
        "status": {"const": "healthy"},
        "service": {"const": "chat"},
        "serverName": string(),
        "timestamp": string(format="date-time"),
    }
)
DESCRIBED = Described(
    endpoints=[
        Endpoint("GET /health", "Is the server up?", answer=_HEALTH),
        Endpoint("GET /metrics", "Measurements for Prometheus", answer=string(), media_type="text/plain"),
    ],
)
