"""A bot's requests are retried after refusals, proxy errors and lost connections where a retry can help."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

from svc.client import requests
from svc.client.requests import Refused, Requests, Unreachable

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def requests_to(*answers: Handler) -> AsyncIterator[tuple[Requests, list[web.Request]]]:
    """Run a server that gives these responses in order, and then empty objects. Yield a client and its
    requests.
    """
    waiting, received = list(answers), list[web.Request]()

    async def answer(request: web.Request) -> web.StreamResponse:
        received.append(request)
        return await waiting.pop(0)(request) if waiting else web.json_response({})

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(application) as server, ClientSession(server.make_url("/")) as http:
        yield Requests(http, "svcbot.x"), received


@pytest.fixture(autouse=True)
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "FIRST_WAIT_S", 0.01)


def answering(status: int, body: object = None, **headers: str) -> Handler:
    async def answer(_: web.Request) -> web.StreamResponse:
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is None:
            return web.Response(status=status, text="<html>a proxy's words</html>", headers=fields)
        return web.json_response(body, status=status, headers=fields)

    return answer


async def cut(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


TOO_FAST = {"error": "rate_limited", "message": "Wait", "retry_after_ms": 20}


@pytest.mark.parametrize(
    "answer", [answering(429, TOO_FAST), answering(429, Retry_After="0"), answering(503, Retry_After="0")]
)
async def test_a_rate_limited_request_is_retried_after_the_wait(answer: Handler) -> None:
    async with requests_to(answer) as (ours, received):
        assert await ours.ask("POST", "/api/roles", {}, repeatable=False) == {}
    assert len(received) == 2


@pytest.mark.parametrize("answer", [cut, answering(502), answering(500, {"error": "internal_error"})])
async def test_idempotent_requests_are_retried(answer: Handler) -> None:
    async with requests_to(answer, answer) as (ours, received):
        assert await ours.ask("PUT", "/api/thing", repeatable=True) == {}
    assert len(received) == 3


@pytest.mark.parametrize(("answer", "problem"), [(cut, Unreachable), (answering(502), Refused)])
async def test_other_requests_are_sent_only_once(answer: Handler, problem: type[Exception]) -> None:
    async with requests_to(answer) as (ours, received):
        with pytest.raises(problem):
            await ours.ask("POST", "/api/roles", {}, repeatable=False)
    assert len(received) == 1


async def test_a_wait_that_is_too_long_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = {"error": "slow_mode", "message": "Wait", "retry_after_ms": 3_600_000}
    async with requests_to(answering(429, slow)) as (ours, received):
        with pytest.raises(Refused) as refused:
            await ours.ask("POST", "/api/channels/general/messages", {}, repeatable=True)
    assert (refused.value.code, refused.value.retry_after_s, len(received)) == ("slow_mode", 3600.0, 1)


async def test_a_server_that_does_not_return_is_reported_as_unreachable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(requests, "PATIENCE_S", 0.1)
    async with requests_to(*[cut] * 100) as (ours, _):
        with pytest.raises(Unreachable):
            await ours.ask("GET", "/api/channels", repeatable=True)


@pytest.mark.parametrize("status", [400, 403, 404])
async def test_an_error_response_is_final_and_its_code_is_available(status: int) -> None:
    async with requests_to(answering(status, {"error": "unknown_channel", "message": "No"})) as (
        ours,
        received,
    ):
        with pytest.raises(Refused, match="unknown_channel: No"):
            await ours.ask("GET", "/api/channels/x", repeatable=True)
    assert len(received) == 1


async def test_the_token_is_sent_only_to_the_server() -> None:
    async with requests_to(answering(302, Location="https://elsewhere.example/")) as (ours, received):
        with pytest.raises(Refused, match="http_302"):
            await ours.ask("GET", "/api/channels", repeatable=True)
    assert [request.headers["Authorization"] for request in received] == ["Bearer svcbot.x"]


async def test_an_endless_response_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "MAX_ANSWER_BYTES", 1000)
    async with requests_to(answering(200, "x" * 2000)) as (ours, _):
        with pytest.raises(Unreachable):
            await ours.ask("GET", "/api/channels", repeatable=True)
