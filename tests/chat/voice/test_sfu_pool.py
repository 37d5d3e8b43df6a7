"""Several media services act as one, even if a service is lost or participants are on the wrong service."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from svc.base.signalling_codec import payload
from svc.chat.voice import sfu_pool
from tests.chat.chat_server import ChatServer, chat_server
from tests.chat.fake_sfu import FakeSfu, fake_sfu
from tests.chat.live_member import LiveMember
from tests.kit.wait import wait_until

WITHIN_S = 10.0


@dataclass
class World:
    """A chat server that is connected to two media services, and a member who receives all events."""

    chat: ChatServer
    ada: LiveMember
    services: list[FakeSfu] = field(default_factory=list)

    async def place(self, room_id: str = "lobby") -> int:
        url = (await self.ada.ask("voice_join", channel_id=room_id))["data"]["urls"][-1]
        return int(url.partition("service=")[2] or 0)

    async def arrives(self, service: int, user_id: str, room_id: str = "lobby") -> None:
        sfu = self.services[service]
        sfu.people.setdefault(room_id, []).append(user_id)
        await sfu.send_event("peer_joined", room_id, user_id)

    def commanded(self, service: int, event: str) -> list[str]:
        """Return the user ids in all events of this kind that a service has received."""
        envelopes = self.services[service].received
        return [str(payload(frame)["user_id"]) for frame in envelopes if frame.event == event]


@pytest.fixture
async def world(
    variables: dict[str, str], sfu: FakeSfu, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[World]:
    monkeypatch.setattr(sfu_pool, "PATIENCE_S", 0.3)
    monkeypatch.setattr(sfu_pool, "LOOK_INTERVAL_S", 0.02)
    async with fake_sfu() as other:
        variables["SFU_WS_HOST"] = f"127.0.0.1:{sfu.port}, 127.0.0.1:{other.port}"
        async with chat_server(variables) as chat, chat.member("Ada") as ada:
            for service in (sfu, other):
                await service.until("sync_request")
            yield World(chat, ada, [sfu, other])


async def test_every_room_is_registered_with_every_service(world: World) -> None:
    for service in world.services:
        assert "lobby" in service.rooms and len(service.rooms) == 2
    assert "svc_chat_sfu_link_up 1.0" in await world.chat.metrics()


async def test_participants_on_all_services_are_listed(world: World) -> None:
    rooms = list(world.ada.welcome["voice"])
    for number, room_id in enumerate(rooms):
        home = await world.place(room_id)
        await world.arrives(home, f"user {number}", room_id)
        assert await world.ada.people(room_id) == ["Someone"]
    async with world.chat.member("Bob") as bob:
        assert [len(bob.welcome["voice"][room_id]) for room_id in rooms] == [1, 1]


async def test_commands_about_a_participant_go_to_the_service_that_hosts_their_room(world: World) -> None:
    home = await world.place()
    async with world.chat.member("Bob") as bob:
        await world.arrives(home, bob.id)
        assert await world.ada.people("lobby") == ["Bob"]
        # The command does not need the other service.
        await world.services[1 - home].stop()
        assert (await world.ada.ask("voice_disconnect", member_id=bob.id))["data"] == {}
        await world.services[home].until("disconnect_user")
        assert world.commanded(home, "disconnect_user") == [bob.id]
        assert world.commanded(1 - home, "disconnect_user") == []


async def test_participants_on_a_dead_service_are_removed_and_its_rooms_move(world: World) -> None:
    home = await world.place()
    await world.arrives(home, "user")
    assert await world.ada.people("lobby") == ["Someone"]
    await world.services[home].stop()
    assert await world.ada.people("lobby") == []
    assert await world.place() == 1 - home
    assert "svc_chat_sfu_link_up 0.0" in await world.chat.metrics()


async def test_a_restarted_service_keeps_its_rooms(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sfu_pool, "PATIENCE_S", 30.0)
    home = await world.place()
    await world.services[home].stop()
    joining = asyncio.create_task(world.place())
    await world.services[home].start()
    assert await joining == home


async def test_a_room_with_participants_stays_when_its_first_service_returns(world: World) -> None:
    home = await world.place()
    await world.services[home].stop()

    async def moved() -> bool:
        return await world.place() != home

    await wait_until("the room has moved", moved, within_s=WITHIN_S)
    await world.arrives(1 - home, "user")
    assert await world.ada.people("lobby") == ["Someone"]
    synchronised = world.services[home].count("sync_request")
    await world.services[home].start()
    await world.services[home].until("sync_request", synchronised + 1)
    assert await world.place() == 1 - home


async def test_a_participant_on_the_wrong_service_is_moved_to_the_rooms_service(world: World) -> None:
    home = await world.place()
    await world.arrives(home, "user")
    assert await world.ada.people("lobby") == ["Someone"]
    await world.arrives(1 - home, world.ada.id)
    moved = await world.ada.pushed("voice_moved")
    assert moved == {"from_channel_id": "lobby", "channel_id": "lobby"}
    await world.services[1 - home].until("disconnect_user")
    assert world.commanded(1 - home, "disconnect_user") == [world.ada.id]
    assert world.commanded(home, "disconnect_user") == []
    # The member's arrival on the wrong service was never announced, and neither is their departure.
    await world.services[1 - home].send_event("peer_left", "lobby", world.ada.id)
    async with world.chat.member("Bob") as bob:
        assert [person["id"] for person in bob.welcome["voice"]["lobby"]] == ["user"]


async def test_participants_on_an_unreachable_service_are_also_moved(world: World) -> None:
    # The lost service kept running without the chat server, and other services have taken over its rooms.
    home = await world.place()
    await world.arrives(home, world.ada.id)
    await world.ada.people("lobby")
    lost = world.services[home]
    people = dict(lost.people)
    await lost.stop()
    assert await world.ada.people("lobby") == []
    await world.place()
    await world.arrives(1 - home, "user")
    assert await world.ada.people("lobby") == ["Someone"]
    lost.people = people
    lost.rooms = {"lobby"}
    await lost.start()
    assert (await world.ada.pushed("voice_moved"))["channel_id"] == "lobby"
    await lost.until("disconnect_user")
    assert world.commanded(home, "disconnect_user") == [world.ada.id]


@pytest.mark.parametrize("service", ["2", "-1", "x", "1" * 30])
async def test_an_unknown_service_is_rejected(world: World, service: str) -> None:
    async with world.chat.http.get("/sfu/client", params={"service": service}) as response:
        assert (response.status, (await response.json())["error"]) == (400, "invalid_request")


async def test_the_pass_through_connects_to_the_named_service(world: World) -> None:
    for number in (0, 1):
        async with world.chat.http.ws_connect("/sfu/client", params={"service": str(number)}):
            async with asyncio.timeout(WITHIN_S):
                await world.services[number].participants.get()
            assert world.services[1 - number].participants.empty()


async def test_a_service_that_accepts_no_more_joins_is_replaced_by_another(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = await world.place()
    world.services[home].answers_sync = False
    monkeypatch.setattr("svc.chat.voice.sfu_link.ANSWER_DEADLINE_S", 0.1)

    async def moved() -> bool:
        reply = await world.ada.ask("voice_join", channel_id="lobby")
        urls = reply["data"].get("urls", [""])
        return reply["event"] == "voice_join" and ("service=" in urls[-1]) is (home == 0)

    await wait_until("the room has moved", moved, within_s=WITHIN_S)


async def test_a_silent_service_gets_no_new_members_and_its_members_are_moved_when_it_responds(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Use a service whose machine has vanished without closing its connection."""
    monkeypatch.setattr("svc.chat.voice.sfu_link.ANSWER_DEADLINE_S", 60.0)
    home = await world.place()
    silent = world.services[home]
    await world.arrives(home, world.ada.id)
    await world.ada.people("lobby")
    silent.answers_sync = False
    assert await world.place() == 1 - home
    assert await world.ada.people("lobby") == []
    await silent.answer_sync()
    assert (await world.ada.pushed("voice_moved"))["channel_id"] == "lobby"
    await silent.until("disconnect_user")
    assert await world.place() == 1 - home
