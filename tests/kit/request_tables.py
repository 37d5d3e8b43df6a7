"""The tables of requests in docs/http.md and docs/live.md, made of what the server says of its requests.

A table below `MARK` is made: its head, and every cell of a row but the first. Which rows it has, the document
decides, and a row `BY_HAND` stays as it is. `python -m tests.kit.request_tables` writes both documents.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from svc.chat.access.catalogue import ENDPOINTS, EVENTS, Needs, Who
from svc.chat.access.permissions import names
from svc.chat.community import Community  # noqa: F401 - with it every feature has declared its requests
from svc.chat.described import Endpoint, Event, Named, Pushed
from svc.chat.live.sign_in import FIRST_EVENTS
from svc.chat.openapi.requests import described
from svc.chat.settings.requests import MANAGEMENT
from tests.kit.schema_words import Schema, braces, choice, listed, named_in, within

DOCS = Path(__file__).parents[2] / "docs"
HTTP, LIVE = DOCS / "http.md", DOCS / "live.md"
MARK = "<!-- made by ci/types write -->"
_NONE = "–"
_REQUEST = ("What it does", "Takes", "Answers", "Who", "Refuses with")
# The columns of a table after its first, which names the table's subject.
COLUMNS: Mapping[str, Sequence[str]] = {
    "Endpoint": _REQUEST,
    "On the management listener": _REQUEST,
    "Event": _REQUEST,
    "Push": ("What has happened", "Data", "To"),
    "Object": ("What it is", "Fields"),
}
# An object longer than this goes to the table of objects. The second limit is for an object with one use.
_LONGEST, _LONGEST_OF_ONE = 45, 130
# A repeated cell longer than this is not written again.
_REPEATED = 90
_CODE = re.compile(r"`([^`]+)`")

_FEATURES = described().values()
_ENDPOINTS = {it.route: it for feature in _FEATURES for it in feature.endpoints}
_MANAGEMENT = {it.route: it for it in MANAGEMENT}
_EVENTS = {it.name: it for feature in _FEATURES for it in feature.events}
_PUSHES = {it.name: it for feature in _FEATURES for it in feature.pushes}
# The page's files, the sockets, what webhooks take, and what comes first on the live socket.
BY_HAND = {*ENDPOINTS.keys() - _ENDPOINTS.keys(), "GET /sfu/client", *FIRST_EVENTS}


def _schemas() -> Iterator[Schema]:
    for endpoint in (*_ENDPOINTS.values(), *MANAGEMENT):
        yield from (it for it in (endpoint.body, endpoint.answer) if it is not None)
    for event in _EVENTS.values():
        yield from (event.data, event.reply)
    yield from (push.data for push in _PUSHES.values())


_USES = [one for schema in _schemas() for one in named_in(schema)]
_NAMED: Mapping[str, Schema] = {one.name: one for one in _USES}
_COUNTS = Counter(one.name for one in _USES)


def _is_object(name: str) -> bool:
    """Return whether a schema is too long for the cells that use it."""
    schema, longest = _NAMED[name], _LONGEST_OF_ONE if _COUNTS[name] == 1 else _LONGEST
    return "properties" not in schema or len(braces(schema, lambda other: other != name)) > longest


_OBJECTS = {name: schema for name, schema in sorted(_NAMED.items()) if _is_object(name)}
# A request that answers a known object and one field more says so.
_LARGE = {name: schema for name, schema in _OBJECTS.items() if len(schema.get("required", ())) > 6}


class Earlier:
    """Long cells that were written already, and in which row."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], str] = {}

    def shortened(self, column: str, cell: str, row: str) -> str:
        if len(cell) <= _REPEATED or column not in ("Takes", "Refuses with"):
            return cell
        first = self._rows.setdefault((column, cell), row)
        return cell if first == row else f"as `{first}`"


def made() -> Mapping[Path, str]:
    """Return the documents with current tables."""
    earlier = Earlier()
    return {document: _made(document, earlier) for document in (HTTP, LIVE)}


def rows_of(kind: str) -> list[str]:
    """Return the names in the first cells of all tables of a kind."""
    found, among = [], False
    for line in "\n".join(made().values()).split("\n"):
        among = line.startswith("|") and (among or line.startswith(f"| {kind} |"))
        found += _CODE.findall(line)[:1] if among else []
    return found


def _made(document: Path, earlier: Earlier) -> str:
    lines = document.read_text(encoding="utf-8").split("\n")
    written: list[str] = []
    while lines:
        line = lines.pop(0)
        written.append(line)
        if line == MARK:
            written.append(lines.pop(0))
            table = [lines.pop(0) for _ in iter(lambda: bool(lines) and lines[0].startswith("|"), False)]
            written += _table(table, earlier)
    return "\n".join(written)


def _table(table: Sequence[str], earlier: Earlier) -> Iterator[str]:
    kind = table[0].strip("|").split("|")[0].strip()
    columns = COLUMNS[kind]
    yield _line(kind, columns)
    yield "|" + "---|" * (1 + len(columns))
    if kind == "Object":
        for name, schema in _OBJECTS.items():
            yield _line(f"`{name}`", [schema.get("description", _NONE), _object(schema)])
        return
    for row in table[2:]:
        name = _name(row)
        if name in BY_HAND:
            yield row
        else:
            cells = zip(columns, _cells(kind, name), strict=True)
            yield _line(f"`{name}`", [earlier.shortened(column, cell, name) for column, cell in cells])


def _line(first: str, others: Sequence[str]) -> str:
    return f"| {' | '.join([first, *others])} |"


def _name(row: str) -> str:
    [name, *_] = _CODE.findall(row)
    return str(name)


def _cells(kind: str, name: str) -> Sequence[str]:
    match kind:
        case "Endpoint":
            return _endpoint(_ENDPOINTS[name], _who(ENDPOINTS[name]))
        case "On the management listener":
            return _endpoint(_MANAGEMENT[name], "the operator")
        case "Event":
            return _event(_EVENTS[name], _who(EVENTS[name]))
        case _:
            return _push(_PUSHES[name])


def _endpoint(endpoint: Endpoint, who: str) -> Sequence[str]:
    asked = [_fields({"properties": endpoint.query})] if endpoint.query else []
    if endpoint.body is not None:
        is_json = endpoint.body_type == "application/json"
        fields = _fields(endpoint.body)
        asked.append(fields if is_json else f"{f'{fields} as ' if fields else ''}`{endpoint.body_type}`")
    answers = "204" if endpoint.answer is None else _answer(endpoint, endpoint.answer)
    return [endpoint.summary, ", ".join(asked) or _NONE, answers, who, _codes(endpoint.refusals)]


def _answer(endpoint: Endpoint, answer: Schema) -> str:
    status = "" if endpoint.status == 200 else f"{endpoint.status} "
    is_json = endpoint.media_type == "application/json"
    otherwise = "" if endpoint.otherwise is None else "; {} with the same: {}".format(*endpoint.otherwise)
    return status + (_value(answer) if is_json else f"`{endpoint.media_type}`") + otherwise


def _event(event: Event, who: str) -> Sequence[str]:
    return [event.summary, _fields(event.data) or _NONE, _value(event.reply), who, _codes(event.refusals)]


def _push(push: Pushed) -> Sequence[str]:
    return [push.summary, _value(push.data), push.to if push.kept else f"{push.to}; not kept"]


def _fields(schema: Schema) -> str:
    return listed(schema, _is_object, null_is_absent=True) + _about(schema)


def _about(schema: Schema) -> str:
    return f". {schema['description'].removesuffix('.')}" if "description" in schema else ""


def _value(schema: Schema) -> str:
    """Describe the value of an answer or a push."""
    if "anyOf" in schema and "properties" not in schema:
        return " or ".join(_value(one) for one in schema["anyOf"])
    if isinstance(schema, Named) and _is_object(schema.name):
        return f"`{schema.name}`"
    if schema == {"type": "object"}:
        return "a document"
    properties: Mapping[str, Schema] = schema.get("properties", {})
    for name, known in _LARGE.items():
        if properties.keys() <= known["properties"].keys() and "required" not in schema and properties:
            return f"some of `{name}`"
        if properties.keys() >= set(known["required"]):
            more = {key: one for key, one in properties.items() if key not in known["properties"]}
            return f"`{name}` with {_fields({**schema, 'properties': more})}"
    choices = [f"`{key}`: {said}" for key, one in properties.items() if (said := choice(one))]
    whole = within(schema, _is_object) or "{}"
    return "; ".join([f"`{whole}`", *choices]) + _about(schema)


def _object(schema: Schema) -> str:
    if "properties" in schema:
        return listed(schema, _is_object, null_is_absent=False)
    return f"a list of {', '.join(f'`{value}`' for value in schema['items']['enum'])}"


def _who(needs: Needs) -> str:
    if needs.any_origin:
        return "whoever has the URL"
    if needs.permission is not None:
        return f"`{names(needs.permission)[0]}`{' there' if needs.in_channel else ''}"
    if needs.who is Who.MEMBER:
        return "people, not bots" if needs.person else "members"
    return "owner" if needs.who is Who.OWNER else "anyone"


def _codes(codes: Sequence[str]) -> str:
    return ", ".join(f"`{code}`" for code in sorted(codes)) or _NONE


if __name__ == "__main__":
    for document, text in made().items():
        document.write_text(text, encoding="utf-8")
