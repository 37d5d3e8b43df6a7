"""Each member has a single rate limit for all endpoints, which does not affect other members."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from svc.chat.access.endpoint_permissions import ENDPOINTS, EVENTS, Audience, cost_of_endpoint, cost_of_event
from svc.chat.access.rate_limits import (
    MAX_WAITING,
    REFUSAL_BURST,
    REFUSALS_PER_S,
    REQUEST_BURST,
    REQUESTS_PER_S,
    RateLimits,
)
from svc.chat.errors import ChatError
from tests.chat.http_member import HttpMember
from tests.chat.members_by_role import MembersByRole

MESSAGES = "/api/channels/general/messages"


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def request_limits(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Iterator[None]:
    """Use the real limits with a clock that only the test advances."""
    original = RateLimits.__init__
    monkeypatch.setattr(RateLimits, "__init__", lambda self, _, *sleep: original(self, clock, *sleep))
    yield


async def spend(person: HttpMember) -> int:
    """Send messages until the limit is reached. Return the number of accepted messages."""
    for passed in range(200):
        status, answer = await person.ask("POST", MESSAGES, {"text": "spam"})
        if status == 429:
            assert answer["error"] == "rate_limited"
            assert 0 < answer["retry_after_ms"] <= 1000 / REQUESTS_PER_S + 1
            return passed
    raise AssertionError("nothing was refused")


async def test_messages_over_http_are_limited_and_waiting_for_the_reported_time_is_enough(
    members: MembersByRole, clock: Clock
) -> None:
    assert await spend(members.member) == REQUEST_BURST
    clock.now += 1.0
    assert await spend(members.member) == REQUESTS_PER_S
    clock.now += 0.5
    async with members.chat.http.get(
        "/api/search?query=a", headers={"Authorization": f"Bearer {members.member.token}"}
    ) as response:
        assert response.status == 200
        assert "Retry-After" not in response.headers
    assert await spend(members.member) == 2


async def test_each_member_has_a_separate_limit(members: MembersByRole) -> None:
    await spend(members.member)
    assert (await members.admin.ask("GET", MESSAGES))[0] == 200


ENDPOINTS_OF_ALL_KINDS = [
    ("GET", MESSAGES),
    ("GET", "/api/search?query=a"),
    ("GET", "/api/members"),
    ("GET", "/api/me/export"),
    ("PUT", "/api/channels/general/messages/1/reactions/a"),
    ("PATCH", "/api/channels/general/messages/1"),
    ("POST", "/api/webhooks"),
    ("POST", "/api/channels/general/uploads"),
    ("POST", "/api/emoji"),
    ("PUT", "/api/channels/general/draft"),
    ("POST", "/api/channels/general/typing"),
    ("POST", "/api/me/devices/link"),
    ("POST", "/api/channels"),
]


async def test_all_http_endpoints_share_the_limit(members: MembersByRole) -> None:
    await spend(members.member)
    # The remaining allowance may be enough for one read.
    await members.member.ask("GET", MESSAGES)
    for method, path in ENDPOINTS_OF_ALL_KINDS:
        status, answer = await members.member.ask(method, path)
        assert (status, answer["error"]) == (429, "rate_limited"), (method, path)


async def test_a_members_live_clients_and_programs_share_the_limit(
    members: MembersByRole, clock: Clock
) -> None:
    async with (
        members.chat.member("", members.member.token) as first,
        members.chat.member("", members.member.token) as second,
    ):
        for page in (first, second):
            for _ in range(REQUEST_BURST // 2):
                assert (await page.ask("typing", channel_id="general"))["event"] == "typing"
        assert await members.member.refused("POST", MESSAGES, {"text": "a"}) == "rate_limited"
        # The live request is delayed instead of rejected, by 100 ms in this test.
        assert (await first.ask("typing", channel_id="general"))["event"] == "typing"
        clock.now += 10.0
        assert (await members.member.ask("POST", MESSAGES, {"text": "a"}))[0] == 201


async def test_signing_in_on_live_sockets_counts_towards_the_limit(
    members: MembersByRole, clock: Clock
) -> None:
    async def sign_in() -> dict[str, Any]:
        async with members.chat.http.ws_connect("/live") as ws:
            await ws.receive_json()
            data = {"access_token": members.member.token}
            await ws.send_json({"event": "authenticate", "id": 1, "data": data})
            answer: dict[str, Any] = await ws.receive_json()
            return answer

    for _ in range(REQUEST_BURST):
        assert (await sign_in())["event"] == "authenticated"
    assert (await sign_in())["data"]["error"] == "rate_limited"
    clock.now += 0.1
    assert (await sign_in())["event"] == "authenticated"


async def test_a_rejected_request_has_no_effect_and_its_body_is_not_read(members: MembersByRole) -> None:
    await spend(members.member)
    before = len((await members.owner.done("GET", f"{MESSAGES}?limit=100"))["messages"])
    for _ in range(20):
        assert await members.member.refused("POST", MESSAGES, {"text": "more"}) == "rate_limited"
    assert len((await members.owner.done("GET", f"{MESSAGES}?limit=100"))["messages"]) == before


def test_an_ordinary_web_client_never_reaches_the_limit(clock: Clock) -> None:
    """Send the requests that a web client sends in its first second.

    Then scroll through ten pages of history per second, which also loads the names of authors who have left,
    and upload in chunks of 1 MiB over a gigabit link.
    """
    page = RateLimits(clock)
    for event in ["drafts", *["history"] * 3, "read", "voice_join"]:
        assert page.wait_s("ada", event) == 0
    for endpoint in ["GET /api/me/permissions", "GET /api/uploads", *["GET /api/members/{member_id}"] * 10]:
        page.require("ada", endpoint)
    clock.now += 1.0
    for _ in range(50):
        clock.now += 0.1
        assert page.wait_s("ada", "history") == 0
    for _ in range(1_000):
        clock.now += 1024 * 1024 * 8 / 1e9
        page.require("bob", "PATCH /api/uploads/{upload_id}")


def test_reads_cost_half_an_ordinary_request_and_searches_cost_the_most() -> None:
    assert cost_of_endpoint("GET /api/members") == cost_of_event("history") == 0.5
    assert cost_of_endpoint(f"POST {MESSAGES}") == cost_of_event("message_send") == cost_of_event("") == 1.0
    assert cost_of_endpoint("GET /api/search") == cost_of_event("search") == 3.0


@pytest.mark.parametrize(
    "endpoint", [name for name, needs in ENDPOINTS.items() if needs.who is not Audience.ANYONE]
)
def test_every_endpoint_for_members_counts_towards_the_limit(endpoint: str) -> None:
    limits = RateLimits(lambda: 0.0)
    with pytest.raises(ChatError, match="rate_limited"):
        for _ in range(10 * REQUEST_BURST + 1):
            limits.require("ada", endpoint)


@pytest.mark.parametrize("event", EVENTS)
def test_every_live_event_counts_towards_the_limit(event: str) -> None:
    limits = RateLimits(lambda: 0.0)
    assert any(limits.wait_s("ada", event) for _ in range(2 * REQUEST_BURST + 1))


async def test_webhooks_have_their_own_limit(members: MembersByRole) -> None:
    """Check that a webhook's posts do not count towards its creator's limit."""
    made = await members.owner.done("POST", "/api/webhooks", {"name": "Hook", "channel_id": "general"})
    path = f"/api/webhooks/{made['id']}/{made['token']}"
    statuses = [(await members.owner.ask("POST", path, {"text": "a"}))[0] for _ in range(16)]
    assert statuses == [200] * 15 + [429]
    assert (await members.owner.ask("GET", MESSAGES))[0] == 200


async def test_a_client_that_continues_after_many_rejections_is_delayed(clock: Clock) -> None:
    waits: list[float] = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)

    pace = RateLimits(clock, wait)
    refused = 0
    for _ in range(REQUEST_BURST + REFUSAL_BURST + 5):
        try:
            await pace.admit("member", "POST /api/reports")
        except ChatError:
            refused += 1
    assert refused == REFUSAL_BURST + 5
    assert waits == [pytest.approx((number + 1) / REFUSALS_PER_S) for number in range(5)]
    await pace.admit("another", "POST /api/reports")


async def test_a_delayed_request_succeeds_if_the_allowance_has_recovered(clock: Clock) -> None:
    async def wait(seconds: float) -> None:
        clock.now += seconds

    pace = RateLimits(clock, wait)
    for _ in range(REQUEST_BURST):
        await pace.admit("member", "POST /api/reports")
    for _ in range(REFUSAL_BURST):
        with pytest.raises(ChatError):
            await pace.admit("member", "POST /api/reports")
    await pace.admit("member", "POST /api/reports")
    assert clock.now == pytest.approx(1 / REFUSALS_PER_S)


async def test_the_number_of_delayed_requests_per_member_is_limited(clock: Clock) -> None:
    over = asyncio.Event()

    async def wait(_: float) -> None:
        await over.wait()

    pace = RateLimits(clock, wait)
    count = REQUEST_BURST + REFUSAL_BURST + MAX_WAITING + 100
    tasks = [asyncio.create_task(pace.admit("member", "POST /api/reports")) for _ in range(count)]
    await asyncio.sleep(0)  # Each task runs until it first waits.
    assert sum(not task.done() for task in tasks) == MAX_WAITING
    over.set()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert outcomes.count(None) == REQUEST_BURST
