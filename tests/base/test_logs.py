"""A log entry is a single line with the message and its fields, even if a peer puts line breaks into them."""

import asyncio
import io
import logging
from collections.abc import Iterator

import pytest
from aiohttp.http_exceptions import BadStatusLine

from svc.base.logs import Outage, configure, name_request


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root, ours = logging.getLogger(), logging.getLogger("svc")
    before = root.handlers[:], root.level, ours.level
    yield io.StringIO()
    root.handlers[:], root_level, our_level = before
    root.setLevel(root_level)
    ours.setLevel(our_level)


def test_fields_follow_the_message(stream: io.StringIO) -> None:
    configure(stream, debug=False)
    logging.getLogger("svc.sfu.rooms").info("peer joined", extra={"room": "lobby", "peers": 2})
    assert stream.getvalue().endswith("Z INFO sfu.rooms peer joined room=lobby peers=2\n")


def test_a_field_cannot_forge_a_log_line(stream: io.StringIO) -> None:
    configure(stream, debug=False)
    logging.getLogger("svc.chat").info("joined", extra={"nickname": "x\nERROR \x1b[31mall is lost"})
    assert stream.getvalue().count("\n") == 1
    assert 'nickname="x\\nERROR \\u001b[31mall is lost"' in stream.getvalue()


def test_debug_lines_appear_on_request_and_only_for_our_loggers(stream: io.StringIO) -> None:
    configure(stream, debug=False)
    logging.getLogger("svc.sfu").debug("hidden")
    assert stream.getvalue() == ""
    configure(stream, debug=True)
    logging.getLogger("asyncio").debug("hidden")
    logging.getLogger("svc.sfu").debug("shown")
    assert stream.getvalue().endswith("DEBUG sfu shown\n")


async def test_log_lines_contain_the_id_of_their_request(stream: io.StringIO) -> None:
    configure(stream, debug=False)

    async def served() -> str:
        name = name_request()
        await asyncio.sleep(0)  # Meanwhile, the other request is served.
        logging.getLogger("svc.chat").info("served", extra={"by": name})
        return name

    names = await asyncio.gather(served(), served())
    logging.getLogger("svc.chat").info("idle")
    lines = [line.partition(" INFO chat ")[2] for line in stream.getvalue().splitlines()]
    assert lines == [f"served by={name} request={name}" for name in names] + ["idle"]
    assert len(set(names)) == 2


def test_an_exception_keeps_its_traceback(stream: io.StringIO) -> None:
    configure(stream, debug=False)
    try:
        raise RuntimeError("broken")
    except RuntimeError:
        logging.getLogger("svc").exception("failed", extra={"task": "sweep"})
    assert "failed task=sweep\nTraceback" in stream.getvalue()
    assert stream.getvalue().endswith("RuntimeError: broken\n")


def test_a_malformed_request_is_not_logged_as_an_error(stream: io.StringIO) -> None:
    configure(stream, debug=True)
    try:
        raise BadStatusLine("GET / HTTP/9.9")
    except BadStatusLine:
        logging.getLogger("aiohttp.server").exception("Error handling request")
    assert stream.getvalue() == ""


def test_an_outage_is_logged_at_its_start_once_a_minute_and_at_its_end(stream: io.StringIO) -> None:
    configure(stream, debug=False)
    now = 0.0
    outage = Outage(
        logging.getLogger("svc"), "cannot be reached", "can be reached again", quiet_s=1.0, clock=lambda: now
    )
    outage.failed("refused")
    outage.ended()
    assert stream.getvalue() == ""  # The outage was too short to be logged.
    for tick in range(1500):
        now = tick / 10
        outage.failed("refused")
    outage.ended()
    outage.ended()
    lines = [line.partition(" svc ")[2] for line in stream.getvalue().splitlines()]
    assert lines == [
        *(f"cannot be reached fault=refused seconds={seconds}" for seconds in (1, 61, 121)),
        "can be reached again seconds=149",
    ]
