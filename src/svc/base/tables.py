"""Maps records to database tables. A record's fields are columns with the same names.

A record is a frozen dataclass or Struct. A field that is itself a record is stored as that record's fields,
in the same position. Differences between a field and its column, in name or type, are declared once, where
the `Table` is created. Callers pass values by name for columns without a field when they write a record, and
for fields without a column when they read one.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from operator import attrgetter
from sqlite3 import Cursor
from typing import Any, Generic, TypeGuard, TypeVar, get_type_hints

from msgspec import Struct, structs

from svc.base.database import Connection, Database
from svc.base.strict_json import dumps

Record = TypeVar("Record")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A conversion between a type that SQLite lacks and its stored form."""

    store: Callable[[Any], object]
    read: Callable[[Any], object]


# Every bool field uses this column type.
_BOOL = ColumnType(int, bool)
JSON = ColumnType(lambda value: dumps(value).decode(), json.loads)


def optional(form: ColumnType) -> ColumnType:
    """Return the same column type for a nullable column, with None for NULL."""
    return ColumnType(
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
        **forms: ColumnType,
    ) -> None:
        """Describe the table of a record.

        `without` lists fields that have no column. `names` maps `field` or `part.field` to the column's name.
        `forms` maps columns to their column types.
        """
        self.name, self._record = name, record
        kept = {name: kind for name, kind in _fields(record).items() if name not in without}
        self._fields = list(kept)
        columns: dict[str, object] = {}
        # The slice of columns for each inner record, last first, so that replacing a slice does not shift
        # earlier positions.
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
        # INSERT statements, by the names of the values passed in addition to a record.
        self._inserts: dict[tuple[str, ...], str] = {}

    # Methods that write. Call them within a write transaction.

    def insert(self, connection: Connection, record: Record, **extra: object) -> None:
        connection.execute(self._insert(*extra), self._row(record, extra))

    def put(self, connection: Connection, record: Record, **extra: object) -> None:
        """Insert a record or update the row with the same key. An update does not delete rows that refer to
        the row.
        """
        names = [*self.columns, *extra]
        updated = ", ".join(f"{name} = excluded.{name}" for name in names)
        sql = f"{self._insert(*extra)} ON CONFLICT DO UPDATE SET {updated}"
        connection.execute(sql, self._row(record, extra))

    # The methods below select rows by column values. Column names must come from our code. None matches NULL.
    # Methods that change rows return whether a row matched.

    def edit(self, connection: Connection, values: Mapping[str, object], **key: object) -> bool:
        """Set columns by name. The names must come from our code."""
        changed = ", ".join(f"{name} = ?" for name in values)
        sql = f"UPDATE {self.name} SET {changed} WHERE {_is(key)}"
        return connection.execute(sql, (*values.values(), *_key_values(key))).rowcount > 0

    def write(self, connection: Connection, record: Record, columns: Collection[str], **key: object) -> bool:
        """Set the given columns to the record's values."""
        row = dict(zip(self.columns, self._row(record, {}), strict=True))
        return self.edit(connection, {name: row[name] for name in columns}, **key)

    def delete(self, connection: Connection, **key: object) -> bool:
        return connection.execute(f"DELETE FROM {self.name} WHERE {_is(key)}", _key_values(key)).rowcount > 0

    def _insert(self, *extra_columns: str) -> str:
        if (sql := self._inserts.get(extra_columns)) is None:
            names = [*self.columns, *extra_columns]
            sql = f"INSERT INTO {self.name} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
            self._inserts[extra_columns] = sql
        return sql

    def _row(self, record: Record, extra: Mapping[str, object]) -> list[object]:
        row = list(self._values(record))
        for index, form in self._forms:
            row[index] = form.store(row[index])
        return [*row, *extra.values()]

    # Methods that read.

    def select(self, alias: str = "") -> str:
        """Return the column list that `read` expects. `alias` is the table's name in a join."""
        return ", ".join(f"{alias}.{column}" if alias else column for column in self.columns)

    def read(self, row: Sequence[Any], **extra: object) -> Record:
        values = list(row)
        for index, form in self._forms:
            values[index] = form.read(values[index])
        for span, part in self._parts:
            values[span] = [part(*values[span])]
        return self._record(**dict(zip(self._fields, values, strict=True)), **extra)

    def get(self, connection: Connection, **key: object) -> Record | None:
        """Return the record with this key, as the current write transaction sees it."""
        row = connection.execute(self._query(f"WHERE {_is(key)}"), _key_values(key)).fetchone()
        return self.read(row) if row else None

    def count(self, connection: Connection, **key: object) -> int:
        sql = f"SELECT count(*) FROM {self.name} WHERE {_is(key) or 1}"
        return number(connection.execute(sql, _key_values(key)))

    def has(self, connection: Connection, **key: object) -> bool:
        sql = f"SELECT 1 FROM {self.name} WHERE {_is(key)} LIMIT 1"
        return connection.execute(sql, _key_values(key)).fetchone() is not None

    def column(self, connection: Connection, name: str, suffix: str = "", **key: object) -> list[Any]:
        """Return one column of the matching rows. `suffix` is the end of the query, such as an ORDER BY
        clause.
        """
        sql = f"SELECT {name} FROM {self.name} WHERE {_is(key)} {suffix}"
        return [value for (value,) in connection.execute(sql, _key_values(key))]

    def find(self, connection: Connection, suffix: str, *values: object) -> list[Record]:
        """Return the records of a query that ends with `suffix`, as the current transaction sees them."""
        return [self.read(row) for row in connection.execute(self._query(suffix), values)]

    async def one(self, database: Database, **key: object) -> Record | None:
        row = await database.row(self._query(f"WHERE {_is(key)}"), _key_values(key))
        return self.read(row) if row else None

    async def all(self, database: Database, suffix: str = "", *values: object) -> list[Record]:
        """Return the records of a query that ends with `suffix`."""
        return [self.read(row) for row in await database.rows(self._query(suffix), values)]

    def _query(self, suffix: str) -> str:
        return f"SELECT {self.select()} FROM {self.name} {suffix}"


def _is_record(kind: object) -> TypeGuard[type[Any]]:
    return isinstance(kind, type) and (is_dataclass(kind) or issubclass(kind, Struct))


def _fields(record: Callable[..., object]) -> dict[str, object]:
    """Return the types of a record's fields, keyed by name."""
    assert _is_record(record), "a table holds records"
    record_fields = structs.fields(record) if issubclass(record, Struct) else fields(record)
    types = get_type_hints(record)
    return {field.name: types[field.name] for field in record_fields}


def _is(key: Mapping[str, object]) -> str:
    return " AND ".join(
        f"{column} IS NULL" if wanted is None else f"{column} = ?" for column, wanted in key.items()
    )


def _key_values(key: Mapping[str, object]) -> tuple[object, ...]:
    return tuple(wanted for wanted in key.values() if wanted is not None)


# Functions that read values other than records.


def value(cursor: Cursor, kind: type[Value]) -> Value | None:
    """Return the only column of the first row, or None if there is no row."""
    row: tuple[Value | None] = cursor.fetchone() or (None,)
    return row[0]


def number(cursor: Cursor) -> int:
    """Return the value of an aggregate, or 0 if it is NULL."""
    return value(cursor, int) or 0
