"""Rejected requests leave no reference cycles, so a flood of them does not cause long garbage collections."""

import gc

import pytest
from aiohttp import ClientError, StreamReader, web

from svc.chat.errors import ChatError
from tests.chat.chat_server import ChatServer
from tests.kit.raw_http import raw_connection
from tests.kit.wait import eventually

TIMES = 20


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/api/members", 401), ("GET", "/nothing", 404), ("DELETE", "/health", 405)],
)
async def test_no_exception_keeps_its_stack_frames_alive(
    chat: ChatServer, method: str, path: str, status: int
) -> None:
    gc.collect()
    gc.disable()
    try:
        for _ in range(TIMES):
            async with raw_connection(chat.address) as raw:
                assert (await raw.ask(method, path)).status == status
        refusals = [obj for obj in gc.get_objects() if issubclass(type(obj), ChatError | web.HTTPException)]
        with_a_way = [refusal for refusal in refusals if refusal.__traceback__ is not None]
    finally:
        gc.enable()
    assert with_a_way == []


@pytest.mark.parametrize("path", ["/api/auth/join", "/api/webhooks/a/b", "/api/uploads"])
async def test_no_truncated_body_stays_in_memory_until_garbage_collection(
    chat: ChatServer, path: str
) -> None:
    # If each request leaked a few objects, thousands of requests would hold gigabytes until the next garbage
    # collection.
    gc.collect()
    gc.disable()
    try:
        for _ in range(TIMES):
            async with raw_connection(chat.address) as raw:
                head = f"POST {path} HTTP/1.1\r\nHost: test\r\nContent-Length: 64000\r\n\r\n"
                await raw.send(head.encode() + b"{" * 32_000)
                # The server has read part of the body.
                async with raw_connection(chat.address) as other:
                    assert (await other.ask("GET", "/health")).status == 200
                raw.writer.transport.abort()
        await eventually("the server has dropped the aborted bodies", lambda: not _bodies(), within_s=20.0)
    finally:
        gc.enable()


def _bodies() -> list[object]:
    """Return the bodies of aborted requests, excluding responses that the test's own client received."""
    bodies = [obj for obj in gc.get_objects() if type(obj) is StreamReader]
    return [body for body in bodies if not isinstance(body.exception(), ClientError | None)]
