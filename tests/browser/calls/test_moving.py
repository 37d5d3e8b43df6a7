"""A page whose person is moved to another voice channel follows, with what it was sending.

Spec: the moving of members of the chat server; media document section 6.1, `disconnect_user`.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import ClientSession

from tests.chat.member import ChatServer, LiveMember
from tests.kit.people import People
from tests.kit.product import Product, running_product


@pytest.fixture
async def product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Product]:
    """With a second voice channel."""
    monkeypatch.setenv("ADDITIONAL_CHANNELS", "voice:Attic")
    async with running_product(tmp_path / "data") as product:
        yield product
    assert "Traceback" not in product.output, product.output


@pytest.fixture
async def owner(product: Product) -> AsyncIterator[LiveMember]:
    """Somebody without a page, who may move others."""
    url = urlsplit(product.url)
    (invite,) = parse_qs(url.fragment)["invite"]
    address = f"{url.scheme}://{url.netloc}"
    async with ClientSession(address) as http, ChatServer(address, http, invite).member("Olga") as olga:
        yield olga


async def test_a_page_follows_to_where_it_is_moved(owner: LiveMember, people: People) -> None:
    ada = await people.arrive("Ada")
    await ada.join()
    joined = await owner.pushed("voice_joined")
    member_id = joined["member"]["id"]
    reply = await owner.ask("voice_move", member_id=member_id, channel_id="attic")
    assert reply["event"] == "voice_move", reply
    while (joined := await owner.pushed("voice_joined"))["channel_id"] != "attic":
        pass
    assert joined["member"]["id"] == member_id
    await ada.is_connected()
    assert "Attic" in await ada.page.title()
