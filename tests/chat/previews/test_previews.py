"""Tests link previews on a simulated internet with real DNS and sockets."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from svc.chat.community import Community
from svc.chat.media.stored_media import PREVIEW
from svc.chat.previews import link_previews
from tests.chat.internal_server import server_with_insight
from tests.chat.live_member import LiveMember
from tests.chat.members_by_role import MembersByRole, members_by_role
from tests.kit.name_server import name_server
from tests.kit.pictures import encoded, scene
from tests.kit.private_internet import (
    PUBLIC,
    Host,
    Pages,
    answer,
    hosted,
    inside,
    names,
    on_an_internet,
    redirect,
)

HOST = "http://tea.example"
PNG = encoded(scene(64, 48), "PNG")
HEAD = (
    '<html><head><meta charset="utf-8"><meta property="og:title" content="Green tea">'
    '<meta property="og:description" content="How to &lt;b&gt;brew&lt;/b&gt; it">'
    '<meta property="og:site_name" content="Tea house"><meta property="og:image" content="/tea.png"></head>'
)


def page(html: str) -> bytes:
    return answer(html.encode(), Content_Type="text/html; charset=utf-8")


PAGES: Pages = {
    "/tea": page(HEAD),
    "/moved": redirect("/tea"),
    "/away": redirect("http://bank.example/tea"),
    "/tea.png": answer(PNG, Content_Type="image/png"),
    "/inside": redirect("http://private.example/"),
    "/plain": page("<title>Plain</title>"),
    "/nothing": page("nothing"),
    "/text": answer(b"<title>x</title>", Content_Type="text/plain"),
    "/bad": page("<title>holy shit</title>"),
}


class World:
    """A server, its members, a member's live socket, and the hosts in the links."""

    def __init__(self, community: Community, members: MembersByRole, reader: LiveMember, host: Host) -> None:
        self.community = community
        self.members = members
        self.reader = reader
        self.host = host

    async def send(self, text: str, **more: object) -> dict[str, Any]:
        frame = await self.reader.ask("message_send", channel_id="general", text=text, **more)
        assert frame["event"] == "message_send", frame
        message: dict[str, Any] = frame["data"]
        assert message["previews"] == []
        return message

    async def shown(self, text: str) -> list[dict[str, Any]]:
        """Send a message and wait for its previews. Return them."""
        message = await self.send(text)
        changed = await self.reader.pushed("previews_changed")
        assert (changed["channel_id"], changed["id"]) == ("general", message["id"])
        stored = await self.members.owner.done("GET", f"/api/channels/general/messages/{message['id']}")
        assert [_unsigned(p) for p in stored["previews"]] == [_unsigned(p) for p in changed["previews"]]
        previews: list[dict[str, Any]] = changed["previews"]
        return previews

    async def settled(self) -> None:
        group = self.community.messaging.previews._tasks
        assert group is not None
        while looking := list(group._tasks):
            await asyncio.wait(looking, timeout=60)

    def outcomes(self) -> dict[str, int]:
        return {outcome: count for (outcome,), count in self.community.tally.previews.items()}

    async def kept_for(self, message_id: str) -> list[str]:
        return await self.community.media._database.write(
            lambda connection: self.community.media.referenced_keys(connection, PREVIEW, message_id)
        )


def _unsigned(preview: dict[str, Any]) -> dict[str, Any]:
    """Return a preview without its image's signed URL, because two URLs may expire at different times."""
    return {**preview, "image": preview.get("image", {}).get("key")}


@asynccontextmanager
async def world(folder: Path, **more: str) -> AsyncIterator[World]:
    variables = {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(folder / "data"),
        "SVC_IDENTITY_TIERS": "local",
        "STORAGE_BACKEND": "filesystem",
        "ADDITIONAL_CHANNELS": "general",
        **more,
    }
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        host = await enter(hosted(PAGES))
        private = await enter(inside())
        await enter(name_server(names(tea=PUBLIC, bank=PUBLIC, private="127.0.0.1")))
        chat, community = await enter(server_with_insight(variables))
        members = await members_by_role(chat)
        reader = await enter(chat.member("", members.member.token))
        yield World(community, members, reader, host)
        assert private.connections == 0, "no connection reaches the private host"


def test_a_preview_contains_the_page_title_description_and_image(tmp_path: Path) -> None:
    async def body() -> None:
        async with world(tmp_path) as scene:
            (preview,) = await scene.shown(f"look: {HOST}/tea, good")
            image = preview.pop("image")
            assert preview == {
                "url": f"{HOST}/tea",
                "title": "Green tea",
                "description": "How to <b>brew</b> it",
                "site": "tea.example",
            }
            assert (image["width"], image["height"], image["content_type"]) == (64, 48, "image/webp")
            async with scene.members.chat.http.get(image["url"]) as response:
                assert (response.status, response.content_type) == (200, "image/webp")
            # The next member who posts the link gets the cached preview.
            (again,) = await scene.shown(f"again {HOST}/tea")
            assert again["image"]["key"] == image["key"]
            assert Counter(scene.host.paths) == {"/tea": 1, "/tea.png": 1}

    on_an_internet(body, tmp_path)


def test_a_linked_image_is_fetched_only_once(tmp_path: Path) -> None:
    async def body() -> None:
        async with world(tmp_path) as scene:
            (picture,) = await scene.shown(f"{HOST}/tea.png")
            assert picture.keys() == {"url", "site", "image"}
            assert Counter(scene.host.paths) == {"/tea.png": 1}

    on_an_internet(body, tmp_path)


def test_previews_follow_redirects_and_fetch_images_but_skip_empty_pages(tmp_path: Path) -> None:
    async def body() -> None:
        async with world(tmp_path) as scene:
            moved, picture, plain = await scene.shown(f"{HOST}/moved {HOST}/tea.png {HOST}/plain")
            assert (moved["url"], moved["title"], "image" in moved) == (f"{HOST}/moved", "Green tea", True)
            assert picture.keys() == {"url", "site", "image"}
            assert plain == {"url": f"{HOST}/plain", "title": "Plain", "site": "tea.example"}
            await scene.send(f"{HOST}/nothing {HOST}/text {HOST}/nowhere")
            await scene.send(f"http://private.example/ http://127.0.0.1/ {HOST}/inside")
            await scene.settled()
            counts = {"ok": 3, "nothing": 2, "fetch_failed": 1, "blocked": 3}
            assert {name: scene.outcomes().get(name) for name in counts} == {**counts, "ok": 5}
            # There is no preview for a page that the server's profanity filter rejects, either.
            await scene.members.owner.done("PATCH", "/api/settings", {"profanityMode": "block"})
            await scene.send(f"{HOST}/bad")
            await scene.settled()
            assert scene.outcomes()["refused"] == 1

    on_an_internet(body, tmp_path)


def test_the_preview_of_a_redirecting_link_names_the_target_host(tmp_path: Path) -> None:
    # The host could redirect the server to a bank and members to a different site.
    async def body() -> None:
        async with world(tmp_path) as scene:
            (away,) = await scene.shown(f"{HOST}/away")
            assert (away["title"], away["site"]) == ("Green tea", "tea.example")

    on_an_internet(body, tmp_path)


def test_no_previews_are_made_when_they_are_disabled(tmp_path: Path) -> None:
    async def body() -> None:
        async with world(tmp_path) as scene:
            await scene.send(f"<{HOST}/tea> `{HOST}/tea`")
            await scene.send(f"{HOST}/tea", previews=False)
            await scene.members.owner.done("PATCH", "/api/settings", {"linkPreviews": False})
            await scene.send(f"{HOST}/tea")
            await scene.settled()
            assert (scene.host.paths, scene.outcomes()) == ([], {})
            await scene.members.owner.done("PATCH", "/api/settings", {"linkPreviews": "on"})
            assert len(await scene.shown(f"{HOST}/tea")) == 1

    async def switched_off() -> None:
        async with world(tmp_path / "off", SVC_LINK_PREVIEWS="false") as scene:
            await scene.send(f"{HOST}/tea")
            await scene.settled()
            assert (scene.host.paths, scene.outcomes()) == ([], {})

    on_an_internet(body, tmp_path)
    on_an_internet(switched_off, tmp_path)


def test_previews_follow_edits_and_are_deleted_with_the_message(tmp_path: Path) -> None:
    async def body() -> None:
        async with world(tmp_path) as scene:
            message = await scene.send(f"{HOST}/tea")
            assert (await scene.reader.pushed("previews_changed"))["previews"][0]["title"] == "Green tea"
            which = {"channel_id": "general", "message_id": message["id"]}
            assert len(await scene.kept_for(message["id"])) == 1
            await scene.reader.ask("message_edit", **which, text=f"{HOST}/plain")
            assert [p["title"] for p in (await scene.reader.pushed("previews_changed"))["previews"]] == [
                "Plain"
            ]
            assert await scene.kept_for(message["id"]) == []
            await scene.reader.ask("message_edit", **which, text="none")
            assert (await scene.reader.pushed("previews_changed"))["previews"] == []
            await scene.reader.ask("message_edit", **which, text=f"{HOST}/tea")
            assert len((await scene.reader.pushed("previews_changed"))["previews"]) == 1
            await scene.reader.ask("message_delete", **which)
            assert await scene.kept_for(message["id"]) == []

    on_an_internet(body, tmp_path)


def test_a_preview_that_the_author_or_a_moderator_removes_does_not_come_back(tmp_path: Path) -> None:
    async def body() -> None:
        async with world(tmp_path) as scene:
            for person, requests_twice in ((scene.members.member, True), (scene.members.moderator, False)):
                message = await scene.send(f"{HOST}/tea")
                await scene.reader.pushed("previews_changed")
                path = f"/api/channels/general/messages/{message['id']}/previews"
                assert await scene.members.guest.refused("DELETE", path) == "forbidden"
                await person.done("DELETE", path)
                assert (await scene.reader.pushed("previews_changed"))["previews"] == []
                assert await scene.kept_for(message["id"]) == []
                if requests_twice:
                    which = {"channel_id": "general", "message_id": message["id"]}
                    assert (await scene.reader.ask("previews_remove", **which))["data"] == {}
                    await scene.reader.ask("message_edit", **which, text=f"{HOST}/tea?")
            await scene.settled()
            history = await scene.members.owner.done("GET", "/api/channels/general/messages")
            assert [message["previews"] for message in history["messages"]] == [[], []]
            entries = (await scene.members.owner.done("GET", "/api/audit?action=previews_remove"))["entries"]
            assert [entry["actor_id"] for entry in entries] == [scene.members.moderator.id]

    on_an_internet(body, tmp_path)


def test_previews_are_rate_limited_per_member_and_per_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The limiter's clock is stopped so that the limit does not refill while a slow machine fetches the pages.
    now = time.monotonic()
    monkeypatch.setattr(link_previews, "time", SimpleNamespace(monotonic=lambda: now))

    async def body() -> None:
        async with world(tmp_path) as scene:
            for _ in range(link_previews.BURST + 1):
                await scene.send(f"{HOST}/plain")
                await scene.settled()
            assert scene.outcomes()["rate_limited"] >= 1
            previews = scene.community.messaging.previews
            previews._at_once = link_previews.MAX_AT_ONCE
            await scene.send(f"{HOST}/plain")
            previews._at_once = 0
            assert scene.outcomes()["busy"] == 1
            # Cached failures expire sooner than cached previews.
            until = {link: until - now for link, (_, until) in previews._cached.items()}
            assert until[f"{HOST}/plain"] == pytest.approx(link_previews.CACHED_S)

    on_an_internet(body, tmp_path)


def test_a_preview_omits_an_image_that_no_longer_exists(tmp_path: Path) -> None:
    async def body() -> None:
        async with world(tmp_path) as scene:
            (preview,) = await scene.shown(f"{HOST}/tea")
            await scene.community.media._database.write(
                lambda connection: connection.execute("DELETE FROM objects").rowcount
            )
            (again,) = await scene.shown(f"{HOST}/tea again")
            assert (again["title"], "image" in preview, "image" in again) == ("Green tea", True, False)

    on_an_internet(body, tmp_path)
