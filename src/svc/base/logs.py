"""Formats log lines: a constant message followed by its values as `key=value` fields.

    logger.info("peer joined", extra={"room": room_id})
    -> 2026-01-31T12:00:00.000Z INFO sfu.rooms peer joined room=lobby

Lines that are logged while a request is served end with the request's id (`request=…`), whichever module logs
them. Frequent warnings and errors of one kind cannot fill a disk: `RateLimitFilter` suppresses and counts
them. This module writes to one stream, keeps no files, and does not choose messages. Callers never pass in
secrets, such as a token or a password.
"""

import json
import logging
import random
import re
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TextIO

from svc.base.token_bucket import TokenBuckets

# The attributes of every LogRecord. All other attributes come from `extra`.
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
# The id of the request that the current task is serving.
_request = ContextVar("request", default="")
# The interval between log lines that a malicious client could provoke repeatedly.
SELDOM_S = 60.0
# The number of warnings or errors of one kind that are logged without delay. After that, one is logged per
# SELDOM_S.
BURST = 10
# A kind is a line of code and the type of an exception. There are far fewer kinds than this.
_MAX_KINDS = 1_000
_PLAIN = re.compile(r"[\w.:/@\[\]+-]+", re.ASCII)


class FieldFormatter(logging.Formatter):
    """A formatter that renders a record on one line, even if a peer has put line breaks into its fields."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        when = moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
        line = f"{when} {record.levelname} {record.name.removeprefix('svc.')} {record.getMessage()}"
        fields = [f"{key}={_value(value)}" for key, value in vars(record).items() if key not in _STANDARD]
        if request := _request.get():
            fields.append(f"request={request}")
        line = " ".join([line, *fields])
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


class OncePerMinute:
    """A limit of one log line a minute, however often its cause recurs."""

    def __init__(self) -> None:
        self._next = float("-inf")
        self._unsaid = 0

    def due(self, now: float, times: int = 1) -> int:
        """Count an occurrence. Return the number since the last line if a line is due, else 0."""
        self._unsaid += times
        if now < self._next:
            return 0
        happened, self._unsaid = self._unsaid, 0
        self._next = now + SELDOM_S
        return happened


class Outage:
    """A log of an outage: a warning at the start, then one a minute, and a line at the end.

    An outage shorter than `quiet_s` is not logged. `again` is the message for its end. If it is empty, the
    end is not logged.
    """

    def __init__(
        self,
        logger: logging.Logger,
        failing: str,
        again: str = "",
        *,
        quiet_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._logger, self._failing, self._again = logger, failing, again
        self._quiet_s, self._clock = quiet_s, clock
        self._since: float | None = None
        self._lines = OncePerMinute()
        self.is_logged = False

    def failed(self, fault: str) -> None:
        """Note a failed attempt."""
        now = self._clock()
        self._since = now if self._since is None else self._since
        seconds = now - self._since
        if seconds >= self._quiet_s and self._lines.due(now):
            self.is_logged = True
            self._logger.warning(self._failing, extra={"fault": fault, "seconds": int(seconds)})

    def ended(self) -> None:
        """Note that an attempt has succeeded."""
        if self.is_logged and self._again and self._since is not None:
            seconds = int(self._clock() - self._since)
            self._logger.info(self._again, extra={"seconds": seconds})
        self._since, self._lines, self.is_logged = None, OncePerMinute(), False


class RateLimitFilter(logging.Filter):
    """A filter that passes BURST warnings and errors of each kind, then one a minute. Its field `left_out`
    counts the suppressed lines.

    A kind is a line of code and the type of the exception. The filter also limits the lines that a malicious
    client can make our libraries log.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._buckets = TokenBuckets(BURST, 1 / SELDOM_S, _MAX_KINDS)
        self._left_out: dict[str, int] = {}
        # The lock is needed because other threads also log.
        self._lock = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        raised = record.exc_info[0].__qualname__ if record.exc_info and record.exc_info[0] else ""
        kind = f"{record.pathname}:{record.lineno} {raised}"
        with self._lock:
            if self._buckets.of(kind).take_if_left(self._clock()):
                self._left_out[kind] = self._left_out.get(kind, 0) + 1
                return False
            if left_out := self._left_out.pop(kind, 0):
                record.left_out = left_out
        return True


def name_request() -> str:
    """Assign a new request id to the current task and return the id."""
    # The id is not secret. Reading the system's random bytes would release the interpreter lock and then wait
    # for it.
    name = f"{random.getrandbits(32):08x}"
    _request.set(name)
    return name


def configure(stream: TextIO, *, debug: bool) -> None:
    """Send every logger's lines to `stream`. With `debug`, include this package's debug lines."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(FieldFormatter())
    handler.addFilter(_is_no_bad_request)
    handler.addFilter(RateLimitFilter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    logging.getLogger("svc").setLevel(logging.DEBUG if debug else logging.INFO)


def _is_no_bad_request(record: logging.LogRecord) -> bool:
    """Return False if the record reports malformed HTTP, which aiohttp answers with 400 and logs with a
    traceback.
    """
    kind = record.exc_info[0] if record.exc_info else None
    return kind is None or kind.__module__ != "aiohttp.http_exceptions"


def _value(value: object) -> str:
    text = str(value)
    # JSON quoting keeps line breaks and terminal escapes from forging another line.
    return text if _PLAIN.fullmatch(text) else json.dumps(text)
