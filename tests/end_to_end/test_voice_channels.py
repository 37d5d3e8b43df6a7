"""The chat server and the media service together: what members and moderators do in voice channels
takes effect on real media.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from svc.chat.community import Community
from tests.chat.inside import give_role, server_with_insight
from tests.chat.member import ChatServer, LiveMember
from tests.kit.aiortc_client import AiortcClient, Voice
from tests.kit.guests import ADA, GRACE, Guests
from tests.kit.sfu_process import SECRET, SfuProcess


@dataclass
class House:
    chat: ChatServer
    community: Community
    mod: LiveMember
    ada: LiveMember
    grace: LiveMember
    guests: Guests

    async def enter(self, member: LiveMember, voice: Voice, channel_id: str = "lobby") -> AiortcClient:
        """Enter a call with a grant from the chat server."""
        grant = (await member.ask("voice_join", channel_id=channel_id))["data"]
        join = {name: value for name, value in grant["client_join"].items() if name != "user_id"}
        return await self.guests.arrive(member.id, voice=voice, **join)

    async def both_talk(self) -> tuple[AiortcClient, AiortcClient]:
        ada, grace = await self.enter(self.ada, ADA), await self.enter(self.grace, GRACE)
        await asyncio.gather(ada.hears(grace), grace.hears(ada), ada.sees(grace), grace.sees(ada))
        return ada, grace


@pytest.fixture
async def house(sfu: SfuProcess, tmp_path: Path) -> AsyncIterator[House]:
    variables = {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "SVC_IDENTITY_TIERS": "local",
        "DATA_DIR": str(tmp_path / "data"),
        "SFU_WS_HOST": f"127.0.0.1:{sfu.http_port}",
        "SERVER_ID": "home",
        "SERVER_PASSWORD": SECRET,
        "VOICE_CHANNEL_ID": "lobby",
        "ADDITIONAL_CHANNELS": "voice:Attic",
        "DISABLE_STUN": "true",
    }
    guests = Guests(sfu)
    async with (
        server_with_insight(variables) as (chat, community),
        chat.member("Mod") as mod,
        chat.member("Ada") as ada,
        chat.member("Grace") as grace,
    ):
        try:
            yield House(chat, community, mod, ada, grace, guests)
        finally:
            await guests.leave()


async def test_a_moderators_mute_silences_and_survives_leaving(house: House) -> None:
    ada, grace = await house.both_talk()
    sound = await grace.hears(ada)
    await house.mod.ask("voice_mute", member_id=house.ada.id, muted=True)
    # A picture sent after the mute has arrived, so no earlier sound is still on its way.
    await grace.sees(ada, frames=15)
    before = sound.packets
    await grace.sees(ada, frames=15)
    assert sound.packets == before
    await ada.leave()
    await grace.lost(ada)
    ada = await house.enter(house.ada, ADA)
    await grace.sees(ada, frames=15)
    line = grace.line(ada, "mic")
    assert line is None or line.packets == 0
    await house.mod.ask("voice_mute", member_id=house.ada.id, muted=False)
    await grace.hears(ada)


async def test_a_disconnected_member_may_return(house: House) -> None:
    ada, grace = await house.both_talk()
    await house.mod.ask("voice_disconnect", member_id=house.ada.id)
    assert (await ada.ending())[0] == 4004
    while (await house.grace.pushed("voice_left"))["member_id"] != house.ada.id:
        pass
    await grace.lost(ada)
    ada = await house.enter(house.ada, ADA)
    await grace.hears(ada)


async def test_a_moved_member_follows_into_the_other_room(house: House) -> None:
    ada, _ = await house.both_talk()
    await house.mod.ask("voice_move", member_id=house.ada.id, channel_id="attic")
    where = await house.ada.pushed("voice_moved")
    assert where == {"from_channel_id": "lobby", "channel_id": "attic"}
    assert (await ada.ending())[0] == 4004
    await house.enter(house.ada, ADA, where["channel_id"])
    while (await house.grace.pushed("voice_joined"))["channel_id"] != "attic":
        pass
    assert house.community.voice.occupancy.users("attic") == (house.ada.id,)


async def test_a_role_revoked_during_a_call_ends_the_picture_but_not_the_sound(house: House) -> None:
    ada, grace = await house.both_talk()
    give_role(house.community, house.ada.id, "guest")
    for tell in house.community.changes.permissions_changed:
        tell([house.ada.id])
    await grace.lost(ada)
    await grace.hears(ada)
    give_role(house.community, house.ada.id, "member")
    for tell in house.community.changes.permissions_changed:
        tell([house.ada.id])
    await grace.sees(ada)


async def test_a_kicked_member_hears_nothing_more(house: House) -> None:
    ada, grace = await house.both_talk()
    async with house.chat.http.post(
        f"/api/members/{house.ada.id}/kick", json={}, headers={"Authorization": f"Bearer {house.mod.token}"}
    ) as response:
        assert response.status in (200, 204), await response.text()
    assert (await ada.ending())[0] == 4004
    await grace.lost(ada)
