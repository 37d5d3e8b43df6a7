"""An error that anyone can cause repeatedly is logged a few times and then once a minute."""

import io
import logging
from collections.abc import Iterator

import pytest

from svc.base import logs


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(clock: Clock) -> Iterator[io.StringIO]:
    """Return the log output of a program whose log is rate limited."""
    root, ours = logging.getLogger(), logging.getLogger("svc")
    before, levels = root.handlers[:], [(logger, logger.level) for logger in (root, ours)]
    stream = io.StringIO()
    logs.configure(stream, debug=False)
    root.handlers[0].filters[-1] = logs.RateLimitFilter(clock)
    yield stream
    root.handlers[:] = before
    for logger, level in levels:
        logger.setLevel(level)


def fail(fault: Exception) -> None:
    """Log an error the way a library does for one of the server's connections."""
    try:
        raise fault
    except type(fault):
        logging.getLogger("aiohttp.server").exception("Error handling request")


def test_a_repeated_traceback_is_logged_ten_times(log: io.StringIO) -> None:
    for _ in range(1000):
        fail(ValueError("again"))
    assert log.getvalue().count("Traceback") == logs.BURST


def test_a_minute_later_a_log_line_counts_the_omitted_tracebacks(log: io.StringIO, clock: Clock) -> None:
    for _ in range(1000):
        fail(ValueError("again"))
    clock.now += logs.SELDOM_S
    fail(ValueError("again"))
    fail(ValueError("again"))
    assert log.getvalue().count("Traceback") == logs.BURST + 1
    assert f" Error handling request left_out={1000 - logs.BURST}\n" in log.getvalue()


def test_a_different_error_in_the_same_place_is_logged(log: io.StringIO) -> None:
    for _ in range(1000):
        fail(ValueError("again"))
    fail(KeyError("once"))
    assert "KeyError: 'once'" in log.getvalue()


def test_log_lines_below_warning_level_are_never_omitted(log: io.StringIO) -> None:
    for number in range(100):
        logging.getLogger("svc.chat").info("member joined", extra={"number": number})
    assert log.getvalue().count("member joined") == 100
