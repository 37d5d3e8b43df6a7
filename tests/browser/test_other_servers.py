"""A rail lists a person's other servers with unread counts, without revealing any server to another."""

import json
import re
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import pytest_asyncio
from aiohttp import ClientSession, web
from PIL import Image
from playwright.async_api import expect

from tests.browser.test_accessibility import axe, expect_accessible
from tests.chat.chat_server import ChatServer
from tests.chat.http_member import HttpMember, newcomer
from tests.kit.browser_users import NARROW, WIDE, People, Person, wide_daily, wide_only
from tests.kit.community import open_settings
from tests.kit.firefox import Firefox
from tests.kit.pictures import encoded
from tests.kit.svc_up import SvcUp, running_svc_up
from tests.kit.tcp_server import relay, tcp_server
from tests.kit.wait import wait_until

__all__ = ["axe"]

WEBP = b64encode(encoded(Image.new("RGB", (512, 256), "#8a2be2"), "WEBP")).decode()
# Hides the page and shows it again. Soon afterwards, the page requests the counts.
COME_BACK = """() => {
  for (const state of ["hidden", "visible"]) {
    Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }
}"""


@dataclass
class Recorder:
    """A proxy in front of a server. It records everything that browsers send."""

    url: str = ""
    received: bytearray = field(default_factory=bytearray)

    def requests(self, path: str) -> list[str]:
        """Return the heads of all requests for a path, in lower case."""
        heads = self.received.decode("utf-8", "replace").lower().split(f"{path} http/1.1\r\n")
        return [head.partition("\r\n\r\n")[0] for head in heads[1:]]


@asynccontextmanager
async def recorder(port: int) -> AsyncIterator[Recorder]:
    kept = Recorder()

    async def record(data: bytes) -> bytes:
        kept.received += data
        return data

    async with tcp_server(lambda reader, writer: relay(reader, writer, port, to_server=record)) as server:
        # This is a different site from the first server's 127.0.0.1, and not just a different port.
        kept.url = f"http://localhost:{server.sockets[0].getsockname()[1]}"
        yield kept


@dataclass
class Elsewhere:
    """Another server, a member on it, and the link that adds this server to the member's rail."""

    recorder: Recorder
    owner: HttpMember
    member: HttpMember
    token: str

    @property
    def rail_link(self) -> str:
        return f"{self.recorder.url}/#rail={self.token}"

    async def write(self, text: str) -> None:
        await self.owner.done("POST", "/api/channels/general/messages", {"text": text})


@pytest_asyncio.fixture(loop_scope="session")
async def elsewhere(tmp_path: Path) -> AsyncIterator[Elsewhere]:
    async with running_svc_up(tmp_path / "elsewhere", SERVER_NAME="Garden club") as product:
        url = urlsplit(product.url)
        address, invite = f"{url.scheme}://{url.netloc}", parse_qs(url.fragment)["invite"][0]
        async with ClientSession(address) as http, recorder(url.port or 0) as kept:
            chat = ChatServer(address, http, invite)
            owner = await newcomer(chat, "Olga")
            invite = (await owner.done("POST", "/api/invites", {}))["code"]
            member = await newcomer(chat, "Ada", invite)
            token = (await member.done("POST", "/api/me/counts-token"))["token"]
            yield Elsewhere(kept, owner, member, token)


async def add(person: Person, link: str) -> None:
    """Add a server in the settings."""
    dialog = await open_settings(person, "Servers")
    await dialog.get_by_label("Address, invite link, or server link").fill(link)
    await dialog.get_by_role("button", name="Add", exact=True).click()


@wide_only
async def test_unread_counts_arrive_and_the_other_server_learns_nothing_about_the_first(
    people: People, product: SvcUp, elsewhere: Elsewhere
) -> None:
    await elsewhere.write("hello")
    ada = await people.arrive("Ada")
    await ada.come_in()
    await expect(ada.page.locator(".rail")).to_have_count(0)
    await add(ada, elsewhere.rail_link)
    host = urlsplit(elsewhere.recorder.url).netloc
    entry = ada.page.locator(".rail a:not([aria-current])")
    await expect(entry).to_have_accessible_name(f"Garden club · {host} · 1 unread message")

    await elsewhere.write(f"[Ada](mention:{elsewhere.member.id})")
    await ada.page.evaluate(COME_BACK)
    await expect(entry).to_have_accessible_name(f"Garden club · {host} · 1 mention")
    await expect(ada.page.locator(".rail .badge")).to_have_text("1")

    # On a phone, the rail is in the drawer, so the drawer's button also shows the counts.
    await ada.page.keyboard.press("Escape")
    await ada.page.set_viewport_size(NARROW)
    drawer = ada.page.get_by_role("button", name="Show channels")
    await expect(drawer).to_have_accessible_description("1 unread")
    await ada.page.set_viewport_size(WIDE)

    await entry.click()
    await ada.page.wait_for_url(f"{elsewhere.recorder.url}/**")
    await expect(ada.page.get_by_label("Your name")).to_be_visible()
    seen = await ada.page.evaluate("[document.referrer, opener, window.name]")
    assert seen == ["", None, ""]
    learns_nothing(elsewhere.recorder, product)

    await ada.page.go_back()
    await expect(ada.page.locator(".rail li")).to_have_count(2)


def learns_nothing(recorder: Recorder, product: SvcUp) -> None:
    """Check that the other server never received the first server's address or origin, or a referrer."""
    assert urlsplit(product.url).netloc.encode() not in recorder.received
    count_requests = recorder.requests("/api/counts")
    assert len(count_requests) > 1
    for head in count_requests:
        assert "\r\norigin: null" in head
        assert not {"referer:", "cookie:", "authorization:"} & {
            line.split(" ")[0] for line in head.split("\r\n")
        }


@pytest.mark.nightly("Chromium does not reveal the first server daily")
async def test_firefox_does_not_reveal_the_first_server_to_another_server_either(
    fox: Firefox, product: SvcUp, elsewhere: Elsewhere
) -> None:
    await elsewhere.write("hello")
    grace = await fox.arrive("Grace", product.url)
    name = await grace.does(f"""
      const name = await one("input[name=name]");
      fill(name, "Grace");
      name.form.requestSubmit();
      await one("#channels");
      await press("Settings");
      await press("Servers", "dialog");
      const field = await one("dialog form input");
      fill(field, {json.dumps(elsewhere.rail_link)});
      await press("Add", "dialog");
      return (await one(".rail a:not([aria-current])")).title;
    """)
    assert name.startswith("Garden club · ")

    async def requested_again() -> bool:
        return len(elsewhere.recorder.requests("/api/counts")) > 1

    await wait_until("the counts are requested again", requested_again, within_s=60)
    learns_nothing(elsewhere.recorder, product)


@asynccontextmanager
async def hostile(answer: dict[str, Any]) -> AsyncIterator[str]:
    """Run a server whose responses the test chooses. Yield its URL."""

    async def counts(_: web.Request) -> web.Response:
        return web.json_response(answer, headers={"Access-Control-Allow-Origin": "*"})

    application = web.Application()
    application.add_routes([web.post("/api/counts", counts)])
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://localhost:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@wide_only
async def test_a_hostile_server_can_change_only_its_own_entry(people: People) -> None:
    ada = await people.arrive("Ada")
    await ada.come_in()
    answer = {
        "name": "<img src=x onerror=alert(1)>\u202eevil\u0000" + "x" * 999,
        "unread": "many",
        "mentions": 10**12,
        "picture": "UklGRgAAAABXRUJQVlA4WAoAAAAAAAAA////////",
    }
    async with hostile(answer) as url:
        await add(ada, f"{url}/#rail=svcrail.x.y")
        entry = ada.page.locator(".rail a:not([aria-current])")
        shown = "<img src=x onerror=alert(1)> evil "
        name = await entry.get_attribute("title") or ""
        assert name.startswith(shown + "x") and name.endswith(f" · {urlsplit(url).netloc} · 99,999 mentions")
        assert len(name) < 120
        await expect(ada.page.locator(".rail .badge")).to_have_text("99+")
        await expect(entry.locator("img")).to_have_count(0)
        # Later, the server changes its name, for example to the name of a neighbour in the rail.
        answer |= {"name": "My bank", "mentions": 0, "unread": 5}
        await ada.page.evaluate(COME_BACK)
        await expect(entry.locator("xpath=..")).to_have_class("unread")
        assert (await entry.get_attribute("title") or "").startswith(shown)
        # When the person adds the server again, its entry shows the new icon, which the page has re-encoded.
        answer |= {"picture": WEBP}
        await ada.page.keyboard.press("Escape")
        await add(ada, f"{url}/#rail=svcrail.x.y")
        await expect(entry.locator("img")).to_have_attribute("src", re.compile("^data:image/png;base64,"))
    # The frame that communicates with the server has no origin, so it cannot access the page or its storage.
    frame = next(frame for frame in ada.page.frames if frame.url.endswith("/counts-frame"))
    assert await frame.evaluate("origin") == "null"
    for reach in ("localStorage.length", "parent.document.title", "parent.localStorage.length"):
        assert await frame.evaluate(
            f"(() => {{ try {{ {reach}; return false; }} catch {{ return true; }} }})()"
        )
    blocked = "fetch(`${location.protocol}//${location.host}/info`).then(() => 'read', () => 'refused')"
    assert await frame.evaluate(blocked) == "refused"


@wide_daily
async def test_servers_can_be_reordered_and_removed_and_an_invite_opens_on_its_own_server(
    people: People, elsewhere: Elsewhere, axe: str
) -> None:
    ada = await people.arrive("Ada")
    await ada.come_in()
    async with ada.page.expect_popup() as opened:
        await add(ada, f"{elsewhere.recorder.url}/#invite=abc https://b.example")
    invited = await opened.value
    assert invited.url == f"{elsewhere.recorder.url}/#invite=abc"
    assert await invited.evaluate("[opener, document.referrer]") == [None, ""]
    await invited.close()
    dialog = ada.page.get_by_role("dialog")
    hosts = ada.page.locator(".other-servers bdi")
    first = urlsplit(elsewhere.recorder.url).netloc
    await expect(hosts).to_have_text([first, "b.example"])
    await dialog.get_by_role("button", name="More about b.example").click()
    await dialog.get_by_role("menuitem", name="Move up").click()
    await expect(hosts).to_have_text(["b.example", first])
    await dialog.get_by_role("button", name=f"More about {first}").click()
    await dialog.get_by_role("menuitem", name="Remove").click()
    await expect(hosts).to_have_text(["b.example"])
    await dialog.get_by_label("Address, invite link, or server link").fill("javascript:alert(1)")
    await dialog.get_by_role("button", name="Add", exact=True).click()
    await expect(dialog.get_by_role("alert")).to_have_text("This isn’t the address of a server.")
    await ada.page.reload()
    await ada.show_channels()
    await expect(ada.page.locator(".rail a:not([aria-current])")).to_have_accessible_name("b.example")
    await expect_accessible(ada, axe, "the rail")
