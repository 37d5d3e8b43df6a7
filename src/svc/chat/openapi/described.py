"""What the descriptions say of themselves."""

from svc.chat.described import Described, Endpoint

_DOCUMENT = {"type": "object"}
DESCRIBED = Described(
    endpoints=[
        Endpoint("GET /openapi.json", "This document", answer=_DOCUMENT),
        Endpoint("GET /openapi/management.json", "The management listener, as OpenAPI", answer=_DOCUMENT),
        Endpoint(
            "GET /openapi/webhooks.json", "What may be posted to webhooks, as OpenAPI", answer=_DOCUMENT
        ),
        Endpoint("GET /asyncapi.json", "The live socket, as AsyncAPI", answer=_DOCUMENT),
    ],
)
