"""Schemas as a document holds them: what has a name stands once under `components`, and is referred to.

Arithmetic on plain data; knows neither OpenAPI nor AsyncAPI, which share it. JSON Schema 2020-12.
"""

from collections.abc import Mapping, Sequence

from svc.chat.described import Named, Schema, obj, string

REQUEST_ID: Schema = {"anyOf": [{"type": "integer"}, string(64)]}


class Components:
    """Collects the named schemas of one document."""

    def __init__(self) -> None:
        self.schemas: dict[str, object] = {}

    def written(self, schema: object) -> object:
        """The schema with references in place of what has a name."""
        if isinstance(schema, Named):
            if schema.name not in self.schemas:
                self.schemas[schema.name] = None  # It may refer to itself.
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
    """The one body of every refusal; a few codes say more beside code and message."""
    body = obj({"error": {"type": "string", "enum": list(codes)}, "message": string()})
    return {**body, "additionalProperties": True}
