"""Builds the OpenAPI 3.1 documents for the server and for its management listener.

The management listener has a separate port and token. The server's document contains every endpoint except
pages, sockets and metrics. Both documents are built from `endpoint_permissions` and the feature descriptions.
This module does not serve them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from svc.chat.access.endpoint_permissions import ENDPOINTS, Audience, Requirement
from svc.chat.access.permissions import Permission, names
from svc.chat.endpoints import FeatureDescription
from svc.chat.errors import status_of
from svc.chat.schemas import ID, Endpoint, Named, Schema, string
from svc.chat.settings.endpoints import management

REQUEST_ID: Schema = {"anyOf": [{"type": "integer"}, string(64)]}


class Components:
    """The named schemas of one document, collected while it is built."""

    def __init__(self) -> None:
        self.schemas: dict[str, object] = {}

    def written(self, schema: object) -> object:
        """Return the schema with references in place of its named schemas."""
        if isinstance(schema, Named):
            if schema.name not in self.schemas:
                self.schemas[schema.name] = None  # Reserve the name, because the schema may refer to itself.
                self.schemas[schema.name] = self._inside(schema)
            return {"$ref": f"#/components/schemas/{schema.name}"}
        return self._inside(schema)

    def _inside(self, schema: object) -> object:
        if isinstance(schema, Mapping):
            return {str(key): self.written(value) for key, value in schema.items()}
        if isinstance(schema, list | tuple):
            return [self.written(value) for value in schema]
        return schema


def refusal(codes: Sequence[str]) -> Schema:
    """Return the schema for an error response: a code, a message and, for a few codes, additional fields."""
    return {
        "type": "object",
        "properties": {"error": {"type": "string", "enum": codes}, "message": string()},
        "required": ["error", "message"],
        "additionalProperties": True,
    }


_VARIABLE = re.compile(r"{(\w+)}")
_BEARER = {"type": "http", "scheme": "bearer"}


def openapi(
    title: str,
    version: str,
    description: str,
    server: str,
    paths: object,
    components: Mapping[str, object],
    **more: object,
) -> dict[str, object]:
    """Return an OpenAPI document. `more` contains additional fields."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": version,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            "description": description,
        },
        "servers": [{"url": server}],
        **more,
        "paths": paths,
        "components": components,
    }


def http_document(features: Mapping[str, FeatureDescription], version: str) -> dict[str, object]:
    components = Components()
    endpoints = [
        (feature, endpoint, ENDPOINTS[endpoint.route])
        for feature, described in features.items()
        for endpoint in described.endpoints
    ]
    return openapi(
        "Community chat server",
        version,
        "Refusals have one body, {error, message}. Times end in _ms: UTC since 1970. People read /reference.",
        "/",
        _paths(endpoints, components),
        {"schemas": components.schemas, "securitySchemes": {"bearer": {**_BEARER, "bearerFormat": "JWT"}}},
    )


def _paths(
    endpoints: Iterable[tuple[str, Endpoint, Requirement]], components: Components
) -> dict[str, dict[str, object]]:
    """Return the operations, keyed by path and method."""
    paths: dict[str, dict[str, object]] = {}
    for feature, endpoint, needs in endpoints:
        method, path = endpoint.route.split(" ")
        paths.setdefault(path, {})[method.lower()] = operation(feature, endpoint, needs, components)
    return paths


def operation(
    feature: str, endpoint: Endpoint, needs: Requirement, components: Components
) -> dict[str, object]:
    method, path = endpoint.route.split(" ")
    described: dict[str, object] = {
        "operationId": "_".join([method.lower(), *re.findall(r"\w+", path)]),
        "tags": [feature],
        "summary": endpoint.summary,
        "parameters": [*_parameters(endpoint, components)],
        "responses": _responses(endpoint, needs, components),
        "security": [] if needs.who is Audience.ANYONE else [{"bearer": []}],
        **permission(needs),
    }
    if endpoint.body is not None:
        content = {endpoint.body_type: {"schema": components.written(endpoint.body)}}
        described["requestBody"] = {"required": True, "content": content}
    return described


def permission(needs: Requirement) -> dict[str, object]:
    """Return the API name of the permission that an endpoint needs."""
    if needs.who is Audience.OWNER:
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


def _responses(endpoint: Endpoint, needs: Requirement, components: Components) -> dict[str, object]:
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


def _usual(endpoint: Endpoint, needs: Requirement) -> Iterator[str]:
    """Yield the error codes that any endpoint with these requirements can return."""
    if "/api/" in endpoint.route:
        yield from ("origin_refused", "storage_unavailable")
    if needs.who is not Audience.ANYONE:
        yield from ("auth_required", "token_invalid", "rate_limited")
    if needs.who is Audience.OWNER or needs.permission is not None:
        yield from ("forbidden", "in_timeout")
    if needs.in_channel and needs.permission is not Permission.VIEW_CHANNEL:
        yield "channel_archived"
    if endpoint.body is not None:
        yield from ("invalid_json", "body_too_large", "unsupported_encoding")
    if endpoint.body is not None or endpoint.query or _VARIABLE.search(endpoint.route):
        yield "invalid_request"


# All management endpoints require the management token, just as other endpoints require a member's token.
_NEEDS = Requirement(Audience.MEMBER)


def management_document(features: Mapping[str, FeatureDescription], version: str) -> dict[str, object]:
    components = Components()
    endpoints = [("management", endpoint, _NEEDS) for endpoint in management()]
    return openapi(
        "Management listener of the community chat server",
        version,
        "Exists only if SVC_ADMIN_TOKEN is set. Every request needs that token.",
        "http://127.0.0.1:5099",
        _paths(endpoints, components),
        {"schemas": components.schemas, "securitySchemes": {"bearer": _BEARER}},
    )
