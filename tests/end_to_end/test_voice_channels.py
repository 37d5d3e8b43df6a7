"""Actions of members and moderators on the chat server take effect on the media in the media service."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from svc.chat.community import Community
from tests.chat.chat_server import ChatServer
from tests.chat.internal_server import give_role, server_with_insight
from tests.chat.live_member import LiveMember
from tests.kit.aiortc_client import AiortcClient, Voice
from tests.kit.aiortc_guests import ADA, GRACE, Guests
from tests.kit.sfu_process import SECRET, SfuProcess


@dataclass
class Installation:
    chat: ChatServer
    community: Community
    mod: LiveMember
    ada: LiveMember
    grace: LiveMember
    guests: Guests

    async def enter(self, member: LiveMember, voice: Voice, channel_id: str = "lobby") -> AiortcClient:
        """Join a call with a grant from the chat server."""
        grant = (await member.ask("voice_join", channel_id=channel_id))["data"]
        join = {name: value for name, value in grant["client_join"].items() if name != "user_id"}
        return await self.guests.arrive(member.id, voice=voice, **join)

    async def both_talk(self) -> tuple[AiortcClient, AiortcClient]:
        ada, grace = await self.enter(self.ada, ADA), await self.enter(self.grace, GRACE)
        await asyncio.gather(ada.hears(grace), grace.hears(ada), ada.sees(grace), grace.sees(ada))
        return ada, grace


@pytest.fixture
async def installation(sfu: SfuProcess, tmp_path: Path) -> AsyncIterator[Installation]:
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
            yield Installation(chat, community, mod, ada, grace, guests)
        finally:
            await guests.leave()


async def test_a_moderators_mute_silences_a_member_and_persists_after_leaving(
    installation: Installation,
) -> None:
    ada, grace = await installation.both_talk()
    sound = await grace.hears(ada)
    await installation.mod.ask("voice_mute", member_id=installation.ada.id, muted=True)
    # A video frame sent after the mute arrives, so no audio from before the mute is still in transit.
    await grace.sees(ada, frames=15)
    before = sound.packets
    await grace.sees(ada, frames=15)
    assert sound.packets == before
    await ada.leave()
    await grace.lost(ada)
    ada = await installation.enter(installation.ada, ADA)
    await grace.sees(ada, frames=15)
    section = grace.section(ada, "mic")
    assert section is None or section.packets == 0
    await installation.mod.ask("voice_mute", member_id=installation.ada.id, muted=False)
    await grace.hears(ada)


async def test_a_disconnected_member_may_rejoin(installation: Installation) -> None:
    ada, grace = await installation.both_talk()
    await installation.mod.ask("voice_disconnect", member_id=installation.ada.id)
    assert (await ada.ending())[0] == 4004
    while (await installation.grace.pushed("voice_left"))["member_id"] != installation.ada.id:
        pass
    await grace.lost(ada)
    ada = await installation.enter(installation.ada, ADA)
    await grace.hears(ada)


async def test_a_member_who_is_moved_joins_the_other_room(installation: Installation) -> None:
    ada, _ = await installation.both_talk()
    await installation.mod.ask("voice_move", member_id=installation.ada.id, channel_id="attic")
    where = await installation.ada.pushed("voice_moved")
    assert where == {"from_channel_id": "lobby", "channel_id": "attic"}
    assert (await ada.ending())[0] == 4004
    await installation.enter(installation.ada, ADA, where["channel_id"])
    while (await installation.grace.pushed("voice_joined"))["channel_id"] != "attic":
        pass
    assert installation.community.voice.occupancy.users("attic") == (installation.ada.id,)


async def test_removing_a_role_during_a_call_ends_the_video_but_not_the_audio(
    installation: Installation,
) -> None:
    ada, grace = await installation.both_talk()
    give_role(installation.community, installation.ada.id, "guest")
    for tell in installation.community.changes.permissions_changed:
        tell([installation.ada.id])
    await grace.lost(ada)
    await grace.hears(ada)
    give_role(installation.community, installation.ada.id, "member")
    for tell in installation.community.changes.permissions_changed:
        tell([installation.ada.id])
    await grace.sees(ada)


async def test_a_kicked_member_receives_no_more_events(installation: Installation) -> None:
    ada, grace = await installation.both_talk()
    async with installation.chat.http.post(
        f"/api/members/{installation.ada.id}/kick",
        json={},
        headers={"Authorization": f"Bearer {installation.mod.token}"},
    ) as response:
        assert response.status in (200, 204), await response.text()
    assert (await ada.ending())[0] == 4004
    await grace.lost(ada)
