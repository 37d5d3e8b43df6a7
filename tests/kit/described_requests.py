"""Generates requests from a server's API description and sends them to a running server one at a time.

Ids come from earlier responses: the role that `POST /api/roles` creates is the `role_id` of later requests.
Nothing is random. This module does not check responses.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from svc.chat.openapi.schema_summaries import Schema
from tests.chat.chat_server import ChatServer
from tests.chat.http_member import newcomer

Json = Mapping[str, Any]

EVERYBODY = ("stranger", "member", "owner")
# These requests may remove the sender or the target, so they are sent last, in this order.
PARTING = ("/logout", "/timeout", "/kick", "/bans/{member_id}", "/leave", "/owner", "/me")


@dataclass(frozen=True, slots=True)
class Request:
    """A request to generate. `path` is a template. `how` determines whether the request has only the required
    fields, all fields, or an error.
    """

    who: str
    method: str
    path: str
    how: str
    operation: Schema

    def __str__(self) -> str:
        return f"{self.who}: {self.method.upper()} {self.path} ({self.how})"

    @property
    def media_type(self) -> str:
        """Return the media type of the body, or "" if there is no body."""
        return next(iter(self.operation.get("requestBody", {"content": {}})["content"]), "")


def requests_of(document: Schema) -> Iterator[Request]:
    """Yield requests for every operation except the operations that return descriptions, which other tests
    cover.
    """
    operations = [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if not path.endswith(".json")
    ]
    for path, method, operation in sorted(operations, key=_turn):
        for who in EVERYBODY:
            yield Request(who, method, path, "least", operation)
        for how in _ways(path, operation):
            yield Request("owner", method, path, how, operation)


def _turn(operation: tuple[str, str, Schema]) -> tuple[object, ...]:
    """Return an operation's position in the order of requests: creation first, then use, then removal."""
    path, method, _ = operation
    parting = max(turn * path.endswith(end) for turn, end in enumerate(PARTING, 1))
    return parting, method == "delete", path.count("/"), path, method != "post", method


def _ways(path: str, operation: Schema) -> Iterator[str]:
    in_query = any(parameter["in"] == "query" for parameter in operation.get("parameters", ()))
    in_body = "application/json" in operation.get("requestBody", {}).get("content", ())
    if in_query or in_body:
        yield from ("all", "wrong")
    if in_body:
        yield from ("empty", "broken")
    if "{" in path:
        yield "unknown"


class Player:
    """A sender of requests to one server. `_known` maps parameter names to known strings and IDs."""

    def __init__(self, chat: ChatServer, document: Schema) -> None:
        self._chat = chat
        self._document = document
        self._tokens = {"stranger": ""}
        self._known = {"type": "member", "emoji": "👍", "code": chat.invite}

    async def play(self) -> dict[str, Json]:
        """Send all requests. Return the responses by name."""
        owner, member = [await newcomer(self._chat, name) for name in ("Olive", "Gus")]
        self._tokens |= {"owner": owner.token, "member": member.token}
        self._known |= {"member_id": member.id, "target_id": member.id}
        return {str(request): await self._answer(request) for request in requests_of(self._document)}

    async def _answer(self, request: Request) -> Json:
        """Send a request. If the rate limit rejects it, wait and send it again."""
        answer = await self._send(request)
        while answer["status"] == 429 and answer["body"]["error"] == "rate_limited":
            await asyncio.sleep(answer["body"]["retry_after_ms"] / 1000)
            answer = await self._send(request)
        if request.method == "post" and answer["status"] < 300:
            self._learn(request.path, answer["body"])
        return answer

    async def _send(self, request: Request) -> Json:
        token = self._tokens[request.who]
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if request.media_type:
            headers["Content-Type"] = request.media_type
        async with self._chat.http.request(
            request.method,
            self._target(request),
            data=self._body(request),
            headers=headers,
            allow_redirects=False,
        ) as response:
            text = await response.text(errors="replace")
            body = json.loads(text) if response.content_type == "application/json" else text
            return {"status": response.status, "type": response.content_type, "body": body}

    def _learn(self, path: str, body: object) -> None:
        """Store a created object's id as the value of the parameter after this path in longer paths."""
        for template in self._document["paths"]:
            name = re.match(rf"{re.escape(path)}/{{(\w+)}}", template)
            if name and isinstance(body, dict) and isinstance(made := body.get(name[1], body.get("id")), str):
                self._known.setdefault(name[1], made)

    def _target(self, request: Request) -> str:
        known = {} if request.how == "unknown" else self._known
        path = re.sub(r"{(\w+)}", lambda name: quote(known.get(name[1], "nothing"), safe=""), request.path)
        query = {
            parameter["name"]: "!?"
            if request.how == "wrong"
            else self._value(parameter["schema"], request.how, parameter["name"])
            for parameter in request.operation.get("parameters", ())
            if parameter["in"] == "query" and (parameter.get("required") or request.how in ("all", "wrong"))
        }
        return f"{path}?{urlencode(query)}" if query else path

    def _body(self, request: Request) -> bytes | None:
        if not request.media_type:
            return None
        if request.media_type != "application/json" or request.how == "broken":
            return b'{"neither JSON nor a picture'
        schema = self._resolved(request.operation["requestBody"]["content"][request.media_type]["schema"])
        match request.how:
            case "empty":
                value: object = {}
            case "wrong":
                value = {name: [1] for name in schema.get("properties", ())}
            case _:
                value = self._value(schema, request.how)
        return json.dumps(value).encode()

    def _resolved(self, schema: Schema) -> Schema:
        name = schema.get("$ref", "").rpartition("/")[2]
        resolved: Schema = self._document["components"]["schemas"][name] if name else schema
        return resolved

    def _value(self, schema: Schema, how: str, name: str = "") -> Any:
        """Return a value that fits the schema.

        Booleans are false, because some settings would make the server connect to other machines.
        """
        schema = self._resolved(schema)
        if "anyOf" in schema:
            return self._value(schema["anyOf"][0], how, name)
        if "enum" in schema:
            return schema["enum"][0]
        match schema.get("type"):
            case "object":
                wanted = schema.get("properties", {}) if how == "all" else schema.get("required", ())
                return {key: self._value(schema["properties"][key], how, key) for key in wanted}
            case "array":
                return [self._value(schema.get("items", {}), how, name.removesuffix("s"))]
            case "integer" | "number":
                return schema.get("minimum", 1)
            case "boolean":
                return False
        word = self._known.get(name, "word")[: schema.get("maxLength")]
        return word.ljust(schema.get("minLength", 0), "w")
