"""When members are moved to another voice channel, their clients join it and continue to send the same media.

See docs/signalling.md, "From the chat server", `disconnect_user`.
"""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import pytest_asyncio
from aiohttp import ClientSession
from playwright.async_api import expect

from tests.chat.chat_server import ChatServer
from tests.chat.live_member import LiveMember
from tests.kit.browser_users import People
from tests.kit.svc_up import SvcUp, running_svc_up


@pytest_asyncio.fixture(loop_scope="session")
async def product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SvcUp]:
    """Run a server with a second voice channel."""
    monkeypatch.setenv("ADDITIONAL_CHANNELS", "voice:Attic")
    async with running_svc_up(tmp_path / "data") as product:
        yield product
    assert "Traceback" not in product.output, product.output


@pytest_asyncio.fixture(loop_scope="session")
async def owner(product: SvcUp) -> AsyncIterator[LiveMember]:
    """Yield the owner, who may move others, on a live socket without a browser."""
    url = urlsplit(product.url)
    (invite,) = parse_qs(url.fragment)["invite"]
    address = f"{url.scheme}://{url.netloc}"
    async with ClientSession(address) as http, ChatServer(address, http, invite).member("Olga") as olga:
        yield olga


async def test_a_client_follows_its_member_to_another_channel(owner: LiveMember, people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await ada.enter_call(camera=True)
    await expect(ada.page.locator("#camera")).to_have_text("Stop camera")
    joined = await owner.pushed("voice_joined")
    member_id = joined["member"]["id"]
    reply = await owner.ask("voice_move", member_id=member_id, channel_id="attic")
    assert reply["event"] == "voice_move", reply
    while (joined := await owner.pushed("voice_joined"))["channel_id"] != "attic":
        pass
    assert joined["member"]["id"] == member_id
    # Ada was connected before the move, too, so check the channel in the title first.
    await expect(ada.page).to_have_title(re.compile("Attic"))
    await ada.is_connected()

    # Ada moves herself with a click. She stays muted, and her camera stays on.
    await expect(ada.page.locator("#camera")).to_have_text("Stop camera")
    await ada.press("Mute")
    await ada.page.locator("#voice-channels .channel").first.click()
    while (joined := await owner.pushed("voice_joined"))["channel_id"] == "attic":
        pass
    await expect(ada.page).to_have_title(re.compile("Voice"))
    await ada.is_connected()
    await expect(ada.page.locator("#mic")).to_have_text("Unmute")
    await expect(ada.page.locator("#camera")).to_have_text("Stop camera")
    callers = ada.page.get_by_role("list", name="People in Voice")
    await expect(callers).to_contain_text("muted")
    await expect(callers).to_contain_text("camera")
