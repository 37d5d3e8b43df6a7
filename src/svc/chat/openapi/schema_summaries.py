"""Describes schemas concisely for the reference, as in `name` (up to 64 characters) or `{channels:
[Channel]}`.

A named schema is represented by its name, because the reference has an entry for it. Any other schema is
spelled out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from svc.chat.schemas import MAX_ID_CHARACTERS, Named

Schema = Mapping[str, Any]

_NULL = {"type": "null"}
# Bounds above this value are omitted, because they only reflect JSON's range.
_ANY_NUMBER = 2**48 - 1
_KINDS = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "object": "object",
}


def list_fields(schema: Schema, *, null_is_absent: bool) -> str:
    """Describe an object's fields, with their bounds and allowed values."""
    needed = schema.get("required", ())
    # Required fields come first.
    fields = sorted(schema.get("properties", {}).items(), key=lambda field: field[0] not in needed)
    return ", ".join(_field(name, field, name not in needed, null_is_absent) for name, field in fields)


def _field(name: str, schema: Schema, optional: bool, null_is_absent: bool) -> str:
    kind, may_be_null = _without_null(schema)
    inner = within(kind)
    written = f"`{name}{'?' if optional else ''}{f': {inner}' if inner else ''}`"
    or_null = " or null" if may_be_null and not null_is_absent else ""
    bounds = "; ".join(_bounds(kind))
    return f"{written}{or_null}{f' ({bounds})' if bounds else ''}"


def within(schema: Schema) -> str:
    """Describe what a value contains: its name, fields or items. Return "" for a plain value."""
    if isinstance(schema, Named):
        return schema.name
    if "properties" in schema:
        return _braces(schema)
    if "anyOf" in schema:
        kinds = [within(kind) for kind in schema["anyOf"]]
        return " or ".join(kinds) if all(kinds) else ""
    if schema.get("type") == "array":
        return f"[{_entry(schema.get('items', {}))}]"
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping):
        return f"{{id: {_entry(values)}}}"
    return ""


def _braces(schema: Schema) -> str:
    """Describe an object with all its fields, but without bounds."""
    needed = schema.get("required", ())
    fields = []
    for name, field in schema.get("properties", {}).items():
        kind, may_be_null = _without_null(field)
        inner = within(kind)
        optional = "?" if name not in needed else ""
        fields.append(f"{name}{optional}{f': {inner}' if inner else ''}{' or null' if may_be_null else ''}")
    return f"{{{', '.join(fields)}}}"


def _entry(schema: Schema) -> str:
    kind, may_be_null = _without_null(schema)
    return (within(kind) or _kind(kind)) + (" or null" if may_be_null else "")


def _kind(schema: Schema) -> str:
    if schema.get("maxLength") == MAX_ID_CHARACTERS:
        return "id"
    return "string" if "enum" in schema else _KINDS.get(schema.get("type", ""), "object")


def _without_null(schema: Schema) -> tuple[Schema, bool]:
    kinds: Sequence[Schema] = schema.get("anyOf", ())
    others = [kind for kind in kinds if kind != _NULL]
    if len(others) == len(kinds):
        return schema, False
    return (others[0] if len(others) == 1 else {"anyOf": others}), True


def choice(schema: Schema) -> str:
    """List the allowed values of a string."""
    kind, _ = _without_null(schema)
    return ", ".join(f"`{value}`" for value in kind.get("enum", ()))


def _bounds(schema: Schema) -> Iterator[str]:
    if isinstance(schema, Named):
        return
    if "description" in schema and "properties" not in schema:
        yield schema["description"]
    if "enum" in schema:
        yield choice(schema)
    minimum, maximum = schema.get("minLength", 0), schema.get("maxLength", MAX_ID_CHARACTERS)
    if maximum != MAX_ID_CHARACTERS and "enum" not in schema:
        yield f"{maximum} characters" if minimum == maximum else f"up to {maximum:,} characters"
    if "maxItems" in schema:
        yield f"up to {schema['maxItems']:,}"
    minimum, maximum = schema.get("minimum", 0), schema.get("maximum", _ANY_NUMBER)
    if maximum < _ANY_NUMBER:
        yield f"{minimum:,} to {maximum:,}"


def named_in(schema: object) -> Iterator[Named]:
    """Yield all named schemas in a schema, outermost first."""
    if isinstance(schema, Named):
        yield schema
    if isinstance(schema, Mapping):
        for value in schema.values():
            yield from named_in(value)
    elif isinstance(schema, list | tuple):
        for value in schema:
            yield from named_in(value)
