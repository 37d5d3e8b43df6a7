"""Log lines: a constant message followed by its values as `key=value` fields.

    logger.info("peer joined", extra={"room": room_id})
    -> 2026-01-31T12:00:00.000Z INFO sfu.rooms peer joined room=lobby

What is logged while a request is served ends with its id (`request=…`), whoever logs it.
Writes to one stream; keeps no files and decides nothing about what is said where.
Secrets are never passed in: no field is worth a token or a password.
"""

import json
import logging
import re
import secrets
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TextIO

# What a LogRecord holds by itself; everything else came in through `extra`.
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
# Which request the running task serves.
_request = ContextVar("request", default="")
# How far apart lines are whose cause a stranger can repeat.
SELDOM_S = 60.0
_PLAIN = re.compile(r"[\w.:/@\[\]+-]+", re.ASCII)


class FieldFormatter(logging.Formatter):
    """Renders a record on one line, whatever text a peer put into its fields."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        time = moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
        line = f"{time} {record.levelname} {record.name.removeprefix('svc.')} {record.getMessage()}"
        fields = [f"{key}={_value(value)}" for key, value in vars(record).items() if key not in _STANDARD]
        if request := _request.get():
            fields.append(f"request={request}")
        line = " ".join([line, *fields])
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


class Seldom:
    """Lets a line be logged once a minute, however often its cause comes back."""

    def __init__(self) -> None:
        self._next = float("-inf")
        self._unsaid = 0

    def due(self, now: float, times: int = 1) -> int:
        """How many times it has happened since the last line, if a line is due; else 0."""
        self._unsaid += times
        if now < self._next:
            return 0
        happened, self._unsaid = self._unsaid, 0
        self._next = now + SELDOM_S
        return happened


def name_request() -> str:
    """From now on the running task serves another request; its id."""
    name = secrets.token_hex(4)
    _request.set(name)
    return name


def configure(stream: TextIO, *, debug: bool) -> None:
    """Send every logger's lines to `stream`; `debug` lets this package's debug lines through."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(FieldFormatter())
    handler.addFilter(_is_no_bad_request)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    logging.getLogger("svc").setLevel(logging.DEBUG if debug else logging.INFO)


def _is_no_bad_request(record: logging.LogRecord) -> bool:
    """False for what was no HTTP: aiohttp has answered 400, and logs all of it with a traceback."""
    kind = record.exc_info[0] if record.exc_info else None
    return kind is None or kind.__module__ != "aiohttp.http_exceptions"


def _value(value: object) -> str:
    text = str(value)
    # Quoted as JSON, line breaks and terminal escapes cannot forge another line.
    return text if _PLAIN.fullmatch(text) else json.dumps(text)
