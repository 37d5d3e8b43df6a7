"""A refused request leaves nothing that Python has to look for: a flood of them stops nobody."""

import gc

import pytest
from aiohttp import web

from svc.chat.errors import ChatError
from tests.chat.member import ChatServer
from tests.kit.raw_http import line_to

TIMES = 20


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/api/members", 401), ("GET", "/nothing", 404), ("DELETE", "/health", 405)],
)
async def test_no_refusal_is_kept_with_the_way_it_came(
    chat: ChatServer, method: str, path: str, status: int
) -> None:
    gc.collect()
    gc.disable()
    try:
        for _ in range(TIMES):
            async with line_to(chat.address) as line:
                assert (await line.ask(method, path)).status == status
        refusals = [
            each for each in gc.get_objects() if issubclass(type(each), ChatError | web.HTTPException)
        ]
        with_a_way = [each for each in refusals if each.__traceback__ is not None]
    finally:
        gc.enable()
    assert with_a_way == []
