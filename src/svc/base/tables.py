"""Records and the tables that keep them: the fields of a record are columns of the same names.

A record is a frozen dataclass or Struct; a field that is itself one is kept as its fields, in its place. A
column that is called otherwise than its field, or holds it in another form, is declared once, where the
`Table` is made. What only the table has is given by name when a record is written, and what only the record
has when it is read.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from operator import attrgetter
from sqlite3 import Cursor
from typing import Any, Generic, TypeGuard, TypeVar

from msgspec import Struct, structs

from svc.base.database import Connection, Database
from svc.base.strict_json import dumps

Record = TypeVar("Record")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Form:
    """How a column holds what SQLite has no type for."""

    store: Callable[[Any], object]
    read: Callable[[Any], object]


# Every field that is a bool has this form.
_BOOL = Form(int, bool)
JSON = Form(lambda value: dumps(value).decode(), json.loads)


def optional(form: Form) -> Form:
    """The same, of a column whose NULL is None."""
    return Form(
        lambda value: None if value is None else form.store(value),
        lambda kept: None if kept is None else form.read(kept),
    )


class Table(Generic[Record]):
    def __init__(
        self,
        name: str,
        record: Callable[..., Record],
        *,
        without: Collection[str] = (),
        names: Mapping[str, str] | None = None,
        **forms: Form,
    ) -> None:
        """`without`: fields that have no column; `names`: of columns, by field or by `part.field`;
        `forms`: by column."""
        self.name, self._record = name, record
        kept = {name: kind for name, kind in _fields(record).items() if name not in without}
        self._fields = list(kept)
        columns: dict[str, object] = {}
        # Where a part's columns are. The last part is first: those before it stay where they are.
        self._parts: list[tuple[slice, Callable[..., object]]] = []
        for field, kind in kept.items():
            if _is_record(kind):
                inner = {f"{field}.{part}": of_part for part, of_part in _fields(kind).items()}
                self._parts.insert(0, (slice(len(columns), len(columns) + len(inner)), kind))
                columns |= inner
            else:
                columns[field] = kind
        self._values: Callable[[Record], tuple[object, ...]] = attrgetter(*columns)
        self.columns = [(names or {}).get(path, path) for path in columns]
        kinds = zip(self.columns, columns.values(), strict=True)
        forms = {column: _BOOL for column, kind in kinds if kind is bool} | forms
        self._forms = [(self.columns.index(column), form) for column, form in forms.items()]
        # By the names of what is given beside a record.
        self._inserts: dict[tuple[str, ...], str] = {}

    # Writing: steps of a write.

    def insert(self, connection: Connection, record: Record, **beside: object) -> None:
        connection.execute(self._insert(*beside), self._row(record, beside))

    def put(self, connection: Connection, record: Record, **beside: object) -> None:
        """Insert it, or write down what it is now: a row with the same key stays, with what refers to it."""
        names = [*self.columns, *beside]
        updated = ", ".join(f"{name} = excluded.{name}" for name in names)
        sql = f"{self._insert(*beside)} ON CONFLICT DO UPDATE SET {updated}"
        connection.execute(sql, self._row(record, beside))

    # A key of the methods below is made of the caller's own columns, by name; None is their NULL. Those that
    # change something say whether there was a row.

    def edit(self, connection: Connection, values: Mapping[str, object], **key: object) -> bool:
        """Set columns by name, which are the caller's own."""
        changed = ", ".join(f"{name} = ?" for name in values)
        sql = f"UPDATE {self.name} SET {changed} WHERE {_is(key)}"
        return connection.execute(sql, (*values.values(), *_given(key))).rowcount > 0

    def write(self, connection: Connection, record: Record, columns: Collection[str], **key: object) -> bool:
        """Set some columns to what the record says."""
        row = dict(zip(self.columns, self._row(record, {}), strict=True))
        return self.edit(connection, {name: row[name] for name in columns}, **key)

    def delete(self, connection: Connection, **key: object) -> bool:
        return connection.execute(f"DELETE FROM {self.name} WHERE {_is(key)}", _given(key)).rowcount > 0

    def _insert(self, *beside: str) -> str:
        if (sql := self._inserts.get(beside)) is None:
            names = [*self.columns, *beside]
            sql = f"INSERT INTO {self.name} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
            self._inserts[beside] = sql
        return sql

    def _row(self, record: Record, beside: Mapping[str, object]) -> list[object]:
        row = list(self._values(record))
        for place, form in self._forms:
            row[place] = form.store(row[place])
        return [*row, *beside.values()]

    # Reading.

    def select(self, alias: str = "") -> str:
        """The columns as `read` takes them; `alias` is the table's in a join."""
        return ", ".join(f"{alias}.{column}" if alias else column for column in self.columns)

    def read(self, row: Sequence[Any], **beside: object) -> Record:
        values = list(row)
        for place, form in self._forms:
            values[place] = form.read(values[place])
        for span, part in self._parts:
            values[span] = [part(*values[span])]
        return self._record(**dict(zip(self._fields, values, strict=True)), **beside)

    def get(self, connection: Connection, **key: object) -> Record | None:
        """As the write sees it that asks."""
        row = connection.execute(self._query(f"WHERE {_is(key)}"), _given(key)).fetchone()
        return self.read(row) if row else None

    def count(self, connection: Connection, **key: object) -> int:
        sql = f"SELECT count(*) FROM {self.name} WHERE {_is(key) or 1}"
        return number(connection.execute(sql, _given(key)))

    def has(self, connection: Connection, **key: object) -> bool:
        sql = f"SELECT 1 FROM {self.name} WHERE {_is(key)} LIMIT 1"
        return connection.execute(sql, _given(key)).fetchone() is not None

    def column(self, connection: Connection, name: str, rest: str = "", **key: object) -> list[Any]:
        """One column of those rows; `rest` is the end of the query, such as their order."""
        found = connection.execute(f"SELECT {name} FROM {self.name} WHERE {_is(key)} {rest}", _given(key))
        return [one for (one,) in found]

    def found(self, connection: Connection, rest: str, *values: object) -> list[Record]:
        """Those of a query that ends so, as the write sees it that asks."""
        return [self.read(row) for row in connection.execute(self._query(rest), values)]

    async def one(self, database: Database, **key: object) -> Record | None:
        row = await database.row(self._query(f"WHERE {_is(key)}"), _given(key))
        return self.read(row) if row else None

    async def all(self, database: Database, rest: str = "", *values: object) -> list[Record]:
        """Those of a query that ends so."""
        return [self.read(row) for row in await database.rows(self._query(rest), values)]

    def _query(self, rest: str) -> str:
        return f"SELECT {self.select()} FROM {self.name} {rest}"


def _is_record(kind: object) -> TypeGuard[type[Any]]:
    return isinstance(kind, type) and (is_dataclass(kind) or issubclass(kind, Struct))


def _fields(record: Callable[..., object]) -> dict[str, object]:
    """Their types, by name."""
    assert _is_record(record), "a table holds records"
    found = structs.fields(record) if issubclass(record, Struct) else fields(record)
    return {field.name: field.type for field in found}


def _is(key: Mapping[str, object]) -> str:
    return " AND ".join(
        f"{column} IS NULL" if wanted is None else f"{column} = ?" for column, wanted in key.items()
    )


def _given(key: Mapping[str, object]) -> tuple[object, ...]:
    return tuple(wanted for wanted in key.values() if wanted is not None)


# What is no record.


def value(found: Cursor, kind: type[Value]) -> Value | None:
    """The only column of the first row; None where there is none."""
    row: tuple[Value | None] = found.fetchone() or (None,)
    return row[0]


def number(found: Cursor) -> int:
    """That of an aggregate; 0 for NULL."""
    return value(found, int) or 0
