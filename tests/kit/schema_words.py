"""Schemas in the few words of a table: `name` (up to 64 characters), `{channels: [Channel], next or null}`.

`is_object` says of a name whether it stands for itself; what has none, or another, is written out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from svc.chat.described import MAX_ID_CHARACTERS, Named

Schema = Mapping[str, Any]
IsObject = Callable[[str], bool]

_NULL = {"type": "null"}
# Larger bounds are those of numbers that JSON can hold, and say nothing.
_ANY_NUMBER = 2**48 - 1
_KINDS = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "object": "object",
}


def listed(schema: Schema, is_object: IsObject, *, null_is_absent: bool) -> str:
    """List an object's fields with their bounds and choices."""
    needed = schema.get("required", ())
    # Required fields come first.
    fields = sorted(schema.get("properties", {}).items(), key=lambda field: field[0] not in needed)
    return ", ".join(
        _listed(name, one, name not in needed, is_object, null_is_absent) for name, one in fields
    )


def _listed(name: str, schema: Schema, optional: bool, is_object: IsObject, null_is_absent: bool) -> str:
    one, may_be_null = without_null(schema)
    inner = within(one, is_object)
    written = f"`{name}{'?' if optional else ''}{f': {inner}' if inner else ''}`"
    or_null = " or null" if may_be_null and not null_is_absent else ""
    said = "; ".join(_bounds(one))
    return f"{written}{or_null}{f' ({said})' if said else ''}"


def braces(schema: Schema, is_object: IsObject) -> str:
    """Describe a whole object without bounds."""
    needed = schema.get("required", ())
    found = []
    for name, each in schema.get("properties", {}).items():
        one, may_be_null = without_null(each)
        inner = within(one, is_object)
        optional = "?" if name not in needed else ""
        found.append(f"{name}{optional}{f': {inner}' if inner else ''}{' or null' if may_be_null else ''}")
    return f"{{{', '.join(found)}}}"


def within(schema: Schema, is_object: IsObject) -> str:
    """Describe a field after its name; return "" for a plain field."""
    if isinstance(schema, Named) and is_object(schema.name):
        return schema.name
    if "properties" in schema:
        return braces(schema, is_object)
    if "anyOf" in schema:
        kinds = [within(one, is_object) for one in schema["anyOf"]]
        return " or ".join(kinds) if all(kinds) else ""
    if schema.get("type") == "array":
        return f"[{_entry(schema.get('items', {}), is_object)}]"
    others = schema.get("additionalProperties")
    if isinstance(others, Mapping):
        return f"{{id: {_entry(others, is_object)}}}"
    return ""


def _entry(schema: Schema, is_object: IsObject) -> str:
    one, may_be_null = without_null(schema)
    return (within(one, is_object) or _kind(one)) + (" or null" if may_be_null else "")


def _kind(schema: Schema) -> str:
    if schema.get("maxLength") == MAX_ID_CHARACTERS:
        return "id"
    return "string" if "enum" in schema else _KINDS.get(schema.get("type", ""), "object")


def without_null(schema: Schema) -> tuple[Schema, bool]:
    kinds: Sequence[Schema] = schema.get("anyOf", ())
    others = [kind for kind in kinds if kind != _NULL]
    if len(others) == len(kinds):
        return schema, False
    return (others[0] if len(others) == 1 else {"anyOf": others}), True


def choice(schema: Schema) -> str:
    """List the allowed texts."""
    one, _ = without_null(schema)
    return ", ".join(f"`{value}`" for value in one.get("enum", ()))


def _bounds(schema: Schema) -> Iterator[str]:
    if "description" in schema and not isinstance(schema, Named) and "properties" not in schema:
        yield schema["description"]
    if "enum" in schema:
        yield choice(schema)
    least, most = schema.get("minLength", 0), schema.get("maxLength", MAX_ID_CHARACTERS)
    if most != MAX_ID_CHARACTERS and "enum" not in schema:
        yield f"{most} characters" if least == most else f"up to {most:,} characters"
    if "maxItems" in schema:
        yield f"up to {schema['maxItems']:,}"
    least, most = schema.get("minimum", 0), schema.get("maximum", _ANY_NUMBER)
    if most < _ANY_NUMBER:
        yield f"{least:,} to {most:,}"


def named_in(schema: object) -> Iterator[Named]:
    """Yield every named schema inside another, from the outside in."""
    if isinstance(schema, Named):
        yield schema
    if isinstance(schema, Mapping):
        for value in schema.values():
            yield from named_in(value)
    elif isinstance(schema, list | tuple):
        for value in schema:
            yield from named_in(value)
