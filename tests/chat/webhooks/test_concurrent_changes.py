"""Changes made to a webhook or its channel while a post's images are being fetched apply to the post.

See docs/http.md, "Webhooks".
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from svc.chat.community import Community
from svc.chat.webhooks.publisher import NOTHING_COLLECTED
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.internal_server import server_with_insight

PICTURE = {"text": "a", "avatar_url": "https://pictures.example/a.png"}


@dataclass
class SlowPictures:
    """An image collector that returns no images, and only when the test allows it."""

    started: asyncio.Event = field(default_factory=asyncio.Event)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    async def collect(self, wanted: Sequence[object], holder: str) -> Any:
        self.started.set()
        await self.arrived.wait()
        return NOTHING_COLLECTED


@dataclass
class Site:
    owner: HttpMember
    community: Community
    pictures: SlowPictures
    webhook: dict[str, Any]

    @property
    def path(self) -> str:
        return f"/api/webhooks/{self.webhook['id']}"

    async def post(self, body: object) -> tuple[int, Any]:
        async with self.owner.chat.http.post(f"{self.path}/{self.webhook['token']}", json=body) as response:
            return response.status, await response.json()

    async def under_way(self) -> "asyncio.Task[tuple[int, Any]]":
        """Start a post. Wait until its images are being fetched."""
        posting = asyncio.create_task(self.post(PICTURE))
        async with asyncio.timeout(30):
            await self.pictures.started.wait()
        return posting

    async def messages(self, channel_id: str) -> list[dict[str, Any]]:
        page = await self.owner.done("GET", f"/api/channels/{channel_id}/messages")
        return list(page["messages"])


@pytest.fixture
async def site(variables: dict[str, str]) -> AsyncIterator[Site]:
    async with server_with_insight(variables) as (chat, community):
        owner, pictures = await newcomer(chat, "Owner"), SlowPictures()
        community.messaging.posting.collect = pictures.collect
        webhook = await owner.done("POST", "/api/webhooks", {"name": "Hook", "channel_id": "general"})
        yield Site(owner, community, pictures, webhook)
        pictures.arrived.set()


async def test_an_invalid_payload_fetches_no_image_and_posts_nothing(site: Site) -> None:
    status, answer = await site.post(PICTURE | {"cards": [{"title": "good"}, {"color": "red"}]})
    assert (status, answer["error"], len(answer["problems"])) == (400, "invalid_payload", 2)
    assert not site.pictures.started.is_set()
    assert await site.messages("general") == []


async def test_requests_for_unknown_webhooks_are_not_counted(site: Site) -> None:
    # Otherwise, anyone could fill the server's memory with counters.
    known, site.webhook = site.webhook, site.webhook | {"token": "wrong"}
    assert (await site.post({"text": "a"}))[0] == 404
    site.webhook = known | {"id": "nobody"}
    assert (await site.post({"text": "a"}))[0] == 404
    counted = site.community.messaging.posting._limiter._buckets
    assert len(counted) == 0
    site.webhook = known
    assert (await site.post({"text": "a"}))[0] == 200
    assert len(counted) == 1
    await site.owner.done("DELETE", site.path)
    assert len(counted) == 0


async def test_a_webhook_deleted_during_a_post_posts_nothing(site: Site) -> None:
    posting = await site.under_way()
    await site.owner.done("DELETE", site.path)
    site.pictures.arrived.set()
    assert await posting == (404, {"error": "not_found"})
    assert await site.messages("general") == []


async def test_a_webhook_moved_during_a_post_posts_to_its_new_channel(site: Site) -> None:
    posting = await site.under_way()
    await site.owner.done("PATCH", site.path, {"channel_id": "lobby", "name": "Moved"})
    site.pictures.arrived.set()
    status, answer = await posting
    assert (status, answer["conversation_id"]) == (200, "lobby")
    assert await site.messages("general") == []
    [message] = await site.messages("lobby")
    assert message["author"]["display_name"] == "Moved"


async def test_a_post_is_rejected_if_its_channel_is_deleted_in_the_meantime(site: Site) -> None:
    posting = await site.under_way()
    await site.owner.done("DELETE", "/api/channels/general")
    site.pictures.arrived.set()
    assert await posting == (400, {"error": "no_channel"})


@pytest.mark.parametrize("posts", [1, 14])
async def test_a_deletion_in_the_same_commit_takes_precedence_over_a_post(site: Site, posts: int) -> None:
    """Check that posts are rejected once a deletion has been stored, whatever the order of the requests."""
    deletion = asyncio.create_task(site.owner.done("DELETE", site.path))
    answers = await asyncio.gather(*(site.post({"text": str(n)}) for n in range(posts)))
    await deletion
    posted = sum(status == 200 for status, _ in answers)
    assert {status for status, _ in answers} <= {200, 404}
    assert len(await site.messages("general")) == posted
    assert await site.post({"text": "late"}) == (404, {"error": "not_found"})


async def test_a_write_after_the_webhooks_deletion_is_rejected(site: Site) -> None:
    """Queue both writes before the server's memory reflects the deletion."""
    posting = site.community.messaging.posting
    webhook = site.community.messaging.webhooks.current(site.webhook["id"])
    deletion = asyncio.create_task(site.community.messaging.webhooks.delete(None, webhook.id, 0.0))
    post = asyncio.create_task(posting.post(webhook, {"text": "a"}))
    # Both writes are queued before either gets a response.
    outcome = (await asyncio.gather(deletion, post, return_exceptions=True))[1]
    assert getattr(outcome, "code", outcome) == "not_found"
    assert await site.messages("general") == []


async def test_a_write_after_a_move_goes_to_the_new_channel(site: Site) -> None:
    webhooks = site.community.messaging.webhooks
    webhook = webhooks.current(site.webhook["id"])
    move = asyncio.create_task(webhooks.edit(None, webhook.id, {"channel_id": "lobby"}, 0.0))
    post = asyncio.create_task(site.community.messaging.posting.post(webhook, {"text": "a"}))
    await asyncio.gather(move, post)
    assert (post.result().message.channel_id, len(await site.messages("lobby"))) == ("lobby", 1)
    assert await site.messages("general") == []
