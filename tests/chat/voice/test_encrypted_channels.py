"""The MLS group of a call in an encrypted voice channel contains exactly one device per participant."""

import time
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest

from svc.base.signalling_codec import payload
from svc.chat.community import Community
from tests.chat.chat_server import ChatServer
from tests.chat.fake_sfu import FakeSfu
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.internal_server import give_role, server_with_insight
from tests.chat.live_member import LiveMember
from tests.chat.private_conversations.mls_messages import Client

LOBBY = {"id": "lobby"}
ONE = "/api/channels/lobby"


@dataclass
class Caller:
    client: Client
    live: LiveMember

    @property
    def id(self) -> str:
        return self.client.person.id

    async def join(self, **more: object) -> Any:
        """Try to join. Return the response or the error code."""
        data = (await self.live.ask("voice_join", channel_id="lobby", **more))["data"]
        return data.get("error", data)


@dataclass
class World:
    chat: ChatServer
    community: Community
    sfu: FakeSfu
    owner: HttpMember
    server_id: str
    stack: AsyncExitStack
    callers: list[Caller] = field(default_factory=list)
    # The ids of members who are in the call but do nothing.
    others: list[str] = field(default_factory=list)

    async def caller(self, name: str) -> Caller:
        person = await newcomer(self.chat, name)
        client = await Client(person, self.server_id, time.time()).take_part()
        live = await self.stack.enter_async_context(self.chat.member("", person.token))
        return Caller(client, live)

    async def enters(self, caller: Caller) -> None:
        """Put a participant into the call. Wait until all participants know that the group must change."""
        assert "client_join" in await caller.join(sealed=True)
        self.callers.append(caller)
        await self._send_event("peer_joined", caller)

    async def leaves(self, caller: Caller) -> None:
        self.callers.remove(caller)
        await self._send_event("peer_left", caller)

    async def _send_event(self, event: str, caller: Caller) -> None:
        self.sfu.people["lobby"] = [*self.others, *(caller.id for caller in self.callers)]
        await self.sfu.send_event(event, "lobby", caller.id)
        await self.changed()

    async def changed(self) -> None:
        for caller in self.callers:
            assert await caller.live.pushed("private_changed") == {"conversation_id": "lobby"}


@pytest.fixture
async def world(variables: dict[str, str], sfu: FakeSfu) -> AsyncIterator[World]:
    async with server_with_insight(variables) as (chat, community), AsyncExitStack() as stack:
        await sfu.until("sync_request")
        owner = await newcomer(chat, "Owner")
        give_role(community, owner.id, "owner")
        async with chat.http.get("/info") as response:
            server_id = (await response.json())["serverId"]
        world = World(chat, community, sfu, owner, server_id, stack)
        await owner.done("PATCH", ONE, {"encrypted": True})
        yield world


async def let_in(caller: Caller, epoch: int, *others: Caller, removed: tuple[Caller, ...] = ()) -> None:
    taken = await caller.client.take(LOBBY, *(other.client for other in others))
    packages = [b64decode(entry["key_package"]) for entry in taken]
    gone = [leaver.client.device_id for leaver in removed]
    status, answer = await caller.client.commit(LOBBY, epoch, packages, gone)
    assert status == 200, answer


async def inside(caller: Caller) -> dict[str, bool]:
    """Map each device in the group to whether it has left the call."""
    return {device["id"]: device["gone"] for device in (await caller.client.look(LOBBY))["devices"]}


async def test_only_clients_that_encrypt_with_a_registered_device_may_join(world: World) -> None:
    ada = await world.caller("Ada")
    assert await ada.join() == "sealing_differs"
    assert "client_join" in await ada.join(sealed=True)
    ben = await newcomer(world.chat, "Ben")
    live = await world.stack.enter_async_context(world.chat.member("", ben.token))
    assert await Caller(Client(ben, "", 0), live).join(sealed=True) == "no_device"
    # A client that encrypts cannot join an unencrypted channel, where it would get no keys.
    assert (await ada.live.ask("voice_join", channel_id="side-room", sealed=True))["data"][
        "error"
    ] == "sealing_differs"


async def test_a_grant_from_before_encryption_becomes_invalid(world: World) -> None:
    ada, ben = await world.caller("Ada"), await world.caller("Ben")
    await world.enters(ben)
    await world.leaves(ben)
    await world.owner.done("PATCH", ONE, {"encrypted": False})
    for caller in (ada, ben):
        assert "client_join" in await caller.join()
    # The reserved slot expires before the grant does.
    world.community.voice._seats._reserved.clear()
    await world.owner.done("PATCH", ONE, {"encrypted": True})
    for number, caller in enumerate((ada, ben), start=1):
        world.sfu.people["lobby"] = [caller.id]
        await world.sfu.send_event("peer_joined", "lobby", caller.id)
        await world.sfu.until("disconnect_user", number)
        command = payload([event for event in world.sfu.received if event.event == "disconnect_user"][-1])
        assert (command["room_id"], command["user_id"]) == ("lobby", caller.id)


async def test_an_encrypted_call_holds_25_people_including_moderators(
    world: World,
) -> None:
    owner = await Client(world.owner, world.server_id, time.time()).take_part()
    live = await world.stack.enter_async_context(world.chat.member("", world.owner.token))
    ada = await world.caller("Ada")
    world.others = [f"somebody-{number}" for number in range(24)]
    world.sfu.people["lobby"] = world.others
    for member_id in world.others:
        await world.sfu.send_event("peer_joined", "lobby", member_id)
        await live.pushed("voice_joined")
    await world.enters(ada)
    # The owner could join any other full channel.
    assert await Caller(owner, live).join(sealed=True) == "channel_full"
    # A member who joins nevertheless is removed.
    await world.sfu.send_event("peer_joined", "lobby", world.owner.id)
    await world.sfu.until("disconnect_user")


async def test_moderators_can_move_only_people_who_encrypt_into_an_encrypted_channel(world: World) -> None:
    ada = await world.caller("Ada")
    mod = await world.stack.enter_async_context(world.chat.member("", world.owner.token))
    await world.sfu.send_event("peer_joined", "side-room", ada.id)
    await mod.pushed("voice_joined")
    assert "error" not in (await mod.ask("voice_move", member_id=ada.id, channel_id="lobby"))["data"]
    assert await ada.live.pushed("voice_moved") == {"from_channel_id": "side-room", "channel_id": "lobby"}
    # The move does not change whether Ada's client encrypts.
    assert await ada.join() == "sealing_differs"
    await world.enters(ada)


async def test_the_first_participants_create_the_group_and_those_who_leave_are_removed(world: World) -> None:
    ada, ben, cem = [await world.caller(name) for name in ("Ada", "Ben", "Cem")]
    for caller in (ada, ben):
        await world.enters(caller)
    look = await ada.client.look(LOBBY)
    assert look["members"] == sorted([ada.id, ben.id])
    assert [device["id"] for device in look["lacking"]] == sorted(
        [ada.client.device_id, ben.client.device_id]
    )
    await let_in(ada, 0, ben)
    [waiting] = (await ben.client.person.done("GET", "/api/private/welcomes?channel_id=lobby"))["welcomes"]
    assert waiting["conversation_id"] == "lobby"
    # The Welcome does not belong to a private conversation.
    assert await ben.client.welcomes() == []
    assert (await ben.client.person.done("GET", "/api/private/conversations"))["conversations"] == []
    for way in (ada.client.send(LOBBY, 1), cem.client.commit(LOBBY, 1)):
        status, answer = await way
        assert (status, answer["error"]) == (404, "unknown_conversation")

    await world.enters(cem)
    await let_in(ben, 1, cem)
    # Nobody can remove a member who is in the call.
    status, answer = await cem.client.commit(LOBBY, 2, removed=[ada.client.device_id])
    assert (status, answer["error"]) == (400, "invalid_request")
    await world.leaves(ada)
    assert await inside(ben) == {
        ada.client.device_id: True,
        ben.client.device_id: False,
        cem.client.device_id: False,
    }
    assert (
        await ada.client.person.refused("GET", "/api/private/conversations/lobby") == "unknown_conversation"
    )
    await let_in(cem, 2, removed=(ada,))
    assert set(await inside(ben)) == {ben.client.device_id, cem.client.device_id}
    # When the last member leaves, the group is deleted and the next call starts a new one.
    await world.leaves(ben)
    await world.leaves(cem)
    await world.enters(ada)
    assert await inside(ada) == {}
    assert await ada.client.log(LOBBY) == []
    await world.enters(ben)
    await let_in(ben, 0, ada)


async def test_a_participant_who_loses_the_permission_to_join_gets_no_further_keys(world: World) -> None:
    ada, ben = await world.caller("Ada"), await world.caller("Ben")
    for caller in (ada, ben):
        await world.enters(caller)
    await let_in(ada, 0, ben)
    await world.owner.done("PUT", f"{ONE}/overrides/member/{ben.id}", {"deny": ["join_voice"]})
    assert (
        await ben.client.person.refused("GET", "/api/private/conversations/lobby") == "unknown_conversation"
    )
    await world.sfu.until("disconnect_user")
    await world.leaves(ben)
    assert (await inside(ada))[ben.client.device_id]


async def test_a_voice_channels_encryption_can_be_changed_only_while_it_is_empty(world: World) -> None:
    ada = await world.caller("Ada")
    await world.enters(ada)
    assert await world.owner.refused("PATCH", ONE, {"encrypted": False}) == "channel_in_use"
    await world.owner.done("PATCH", ONE, {"encrypted": True, "topic": "as it is"})
    await world.leaves(ada)
    assert (await world.owner.done("PATCH", ONE, {"encrypted": False}))["encrypted"] is False
    assert "client_join" in await ada.join()
    # Ada is about to join.
    assert await world.owner.refused("PATCH", ONE, {"encrypted": True}) == "channel_in_use"
    text = {"name": "hall", "type": "text", "encrypted": True}
    assert await world.owner.refused("POST", "/api/channels", text) == "invalid_request"
    assert await ada.client.person.refused("PATCH", ONE, {"encrypted": True}) == "forbidden"


async def test_participants_who_left_during_an_sfu_restart_are_removed(world: World) -> None:
    ada, ben = await world.caller("Ada"), await world.caller("Ben")
    for caller in (ada, ben):
        await world.enters(caller)
    await let_in(ada, 0, ben)
    world.callers.remove(ben)
    world.sfu.people["lobby"] = [ada.id]
    await world.sfu.drop_control()
    await world.changed()
    assert (await inside(ada))[ben.client.device_id]
