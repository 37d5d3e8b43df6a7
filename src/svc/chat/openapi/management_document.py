"""The OpenAPI 3.1 document of the management listener, which has a port and a token of its own.

Made of what the settings say of themselves; serves nothing. docs/http.md, "The management listener".
"""

from collections.abc import Mapping

from svc.chat.access.catalogue import Needs, Who
from svc.chat.described import Described
from svc.chat.openapi.http_document import operation
from svc.chat.openapi.schemas import Components
from svc.chat.settings.requests import MANAGEMENT

# Every one of them asks for the token, as others ask for that of a member.
_NEEDS = Needs(Who.MEMBER)


def management_document(features: Mapping[str, Described], version: str) -> dict[str, object]:
    components = Components()
    paths: dict[str, dict[str, object]] = {}
    for endpoint in MANAGEMENT:
        method, path = endpoint.route.split(" ")
        paths.setdefault(path, {})[method.lower()] = operation("management", endpoint, _NEEDS, components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Management listener of the community chat server",
            "version": version,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            "description": "Only where SVC_ADMIN_TOKEN is set, and for its bearer.",
        },
        "servers": [{"url": "http://127.0.0.1:5099"}],
        "paths": paths,
        "components": {
            "schemas": components.schemas,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }
