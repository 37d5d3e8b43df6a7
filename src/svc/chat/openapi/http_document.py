"""The OpenAPI 3.1 document: every endpoint of the catalogue but the pages, the sockets and the metrics.

Made of the catalogue and of what the features say of themselves; serves nothing.
"""

import re
from collections.abc import Iterator, Mapping

from svc.chat.access.catalogue import ENDPOINTS, Needs, Who
from svc.chat.access.permissions import Permission, names
from svc.chat.described import ID, Described, Endpoint
from svc.chat.errors import status_of
from svc.chat.openapi.schemas import Components, refusal

_VARIABLE = re.compile(r"{(\w+)}")


def http_document(features: Mapping[str, Described], version: str) -> dict[str, object]:
    components = Components()
    paths: dict[str, dict[str, object]] = {}
    for feature, described in features.items():
        for endpoint in described.endpoints:
            method, path = endpoint.route.split(" ")
            needs = ENDPOINTS[endpoint.route]
            paths.setdefault(path, {})[method.lower()] = operation(feature, endpoint, needs, components)
    bearer = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Community chat server",
            "version": version,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            "description": "Refusals have one body, {error, message}. Times end in _ms: UTC since 1970.",
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {"schemas": components.schemas, "securitySchemes": {"bearer": bearer}},
    }


def operation(feature: str, endpoint: Endpoint, needs: Needs, components: Components) -> dict[str, object]:
    method, path = endpoint.route.split(" ")
    described: dict[str, object] = {
        "operationId": "_".join([method.lower(), *re.findall(r"\w+", path)]),
        "tags": [feature],
        "summary": endpoint.summary,
        "parameters": [*_parameters(endpoint, components)],
        "responses": _responses(endpoint, needs, components),
        "security": [] if needs.who is Who.ANYONE else [{"bearer": []}],
        **permission(needs),
    }
    if endpoint.body is not None:
        content = {endpoint.body_type: {"schema": components.written(endpoint.body)}}
        described["requestBody"] = {"required": True, "content": content}
    return described


def permission(needs: Needs) -> dict[str, object]:
    """What the catalogue asks for, in words of the wire."""
    if needs.who is Who.OWNER:
        return {"x-permission": "owner"}
    if needs.permission is None:
        return {}
    where = "channel" if needs.in_channel else "server"
    return {"x-permission": names(needs.permission)[0], "x-permission-of": where}


def _parameters(endpoint: Endpoint, components: Components) -> Iterator[dict[str, object]]:
    for name in _VARIABLE.findall(endpoint.route):
        yield {"name": name, "in": "path", "required": True, "schema": ID}
    for name, schema in endpoint.query.items():
        yield {"name": name, "in": "query", "schema": components.written(schema)}


def _responses(endpoint: Endpoint, needs: Needs, components: Components) -> dict[str, object]:
    responses: dict[str, object] = {"204": {"description": "Done"}}
    if endpoint.answer is not None:
        content = {endpoint.media_type: {"schema": components.written(endpoint.answer)}}
        responses = {str(endpoint.status): {"description": "Done", "content": content}}
        if endpoint.otherwise is not None:
            status, when = endpoint.otherwise
            responses[str(status)] = {"description": when, "content": content}
    by_status: dict[int, list[str]] = {}
    for code in sorted({*endpoint.refusals, *_usual(endpoint, needs)}):
        by_status.setdefault(status_of(code), []).append(code)
    for status, codes in sorted(by_status.items()):
        content = {"application/json": {"schema": refusal(codes)}}
        responses[str(status)] = {"description": ", ".join(codes), "content": content}
    return responses


def _usual(endpoint: Endpoint, needs: Needs) -> Iterator[str]:
    """What everything of its kind may answer."""
    if "/api/" in endpoint.route:
        yield from ("origin_refused", "storage_unavailable")
    if needs.who is not Who.ANYONE:
        yield from ("auth_required", "token_invalid", "rate_limited")
    if needs.who is Who.OWNER or needs.permission is not None:
        yield from ("forbidden", "in_timeout")
    if needs.in_channel and needs.permission is not Permission.VIEW_CHANNEL:
        yield "channel_archived"
    if endpoint.body is not None:
        yield from ("invalid_json", "body_too_large", "unsupported_encoding")
    if endpoint.body is not None or endpoint.query or _VARIABLE.search(endpoint.route):
        yield "invalid_request"
