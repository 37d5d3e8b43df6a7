"""A chat server distributes rooms over several media services and moves the rooms of a dead service."""

import asyncio
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import combinations
from pathlib import Path

import pytest

from tests.chat.chat_server import ChatServer, chat_server
from tests.chat.live_member import LiveMember
from tests.kit.aiortc_client import CAMERA, Voice
from tests.kit.aiortc_guests import ADA, BARBARA, GRACE
from tests.kit.caller import Caller, talk
from tests.kit.sfu_process import SfuProcess, running_sfu
from tests.kit.wait import eventually

# An idle machine takes eight seconds: two to wait in case the service is only restarting, and six to join.
BACK_WITHIN_S = 30.0
ROOMS = [f"room {number}" for number in range(12)]


@asynccontextmanager
async def installation(
    folder: Path, *sfus: SfuProcess, rooms: Sequence[str] = ROOMS, room_size: int = 0
) -> AsyncIterator[ChatServer]:
    variables = {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(folder),
        "SVC_IDENTITY_TIERS": "local",
        "SFU_WS_HOST": ",".join(f"127.0.0.1:{sfu.http_port}" for sfu in sfus),
        "SERVER_ID": "home",
        "SERVER_PASSWORD": "the control secret",
        "ADDITIONAL_CHANNELS": ",".join(f"voice:{name}" for name in rooms),
        "DISABLE_STUN": "true",
        "SFU_ROOM_SIZE": str(room_size),
    }
    async with chat_server(variables) as chat:
        yield chat


async def addresses(member: LiveMember) -> dict[str, str]:
    """Return each voice channel's signalling URL, the chat server's pass-through to the channel's SFU."""
    rooms = [channel["id"] for channel in member.welcome["channels"] if channel["type"] == "voice"]
    grants = {room: (await member.ask("voice_join", channel_id=room))["data"] for room in rooms}
    return {room: grant["urls"][-1] for room, grant in grants.items()}


async def test_rooms_are_distributed_over_both_services_but_not_to_a_frozen_service(tmp_path: Path) -> None:
    async with (
        running_sfu() as one,
        running_sfu() as two,
        installation(tmp_path / "data", one, two) as chat,
        chat.member("Ada") as ada,
    ):
        places = await addresses(ada)
        assert set(places.values()) == {"/sfu/client", "/sfu/client?service=1"}
        assert await addresses(ada) == places

        one.signal(signal.SIGSTOP)
        try:
            assert set((await addresses(ada)).values()) == {"/sfu/client?service=1"}
        finally:
            one.signal(signal.SIGCONT)


async def test_participants_are_reunited_on_the_other_service_when_their_own_is_killed(
    tmp_path: Path,
) -> None:
    async with (
        running_sfu() as one,
        running_sfu() as two,
        installation(tmp_path / "data", one, two) as chat,
        AsyncExitStack() as stack,
    ):
        ada, grace = [
            Caller(chat, await stack.enter_async_context(chat.member(name)), voice)
            for name, voice in (("Ada", ADA), ("Grace", GRACE))
        ]
        for caller in (ada, grace):
            await caller.join()
            stack.push_async_callback(lambda caller=caller: caller.client.leave())  # type: ignore[misc]
        await talk(ada.client, grace.client)
        sfus = {one.udp_port: one, two.udp_port: two}
        theirs = sfus[ada.client.remote_address[1]]
        assert grace.client.remote_address == ada.client.remote_address

        await theirs.kill()

        async with asyncio.timeout(BACK_WITHIN_S):
            await asyncio.gather(ada.join_again(), grace.join_again())
            both = (ada.client, grace.client)
            await eventually(
                "both are in", lambda: all(person.welcome for person in both), within_s=BACK_WITHIN_S
            )
        await talk(ada.client, grace.client)
        assert sfus[ada.client.remote_address[1]] is not theirs
        async with chat.member("Edsger") as edsger:
            people = edsger.welcome["voice"][ada.channel]
            assert sorted(person["nickname"] for person in people) == ["Ada", "Grace"]
            # No member is sent to the dead service.
            assert len(set((await addresses(edsger)).values())) == 1


@asynccontextmanager
async def callers(chat: ChatServer, *people: tuple[str, Voice]) -> AsyncIterator[list[Caller]]:
    """Have members join the same channel one after another. Yield the callers."""
    async with AsyncExitStack() as stack:
        joined: list[Caller] = []
        for name, voice in people:
            caller = Caller(chat, await stack.enter_async_context(chat.member(name)), voice)
            await caller.join()
            stack.push_async_callback(lambda caller=caller: caller.client.leave())  # type: ignore[misc]
            await eventually(f"{name} has joined", lambda: caller.client.offers, within_s=BACK_WITHIN_S)  # noqa: B023
            joined.append(caller)
        yield joined


@asynccontextmanager
async def call_over_two_services(
    folder: Path,
) -> AsyncIterator[tuple[ChatServer, SfuProcess, SfuProcess, Caller, Caller]]:
    """Have Ada and Grace call each other through different SFUs. Yield once they can see and hear each
    other."""
    async with (
        running_sfu() as one,
        running_sfu() as two,
        installation(folder / "data", one, two, room_size=1) as chat,
        callers(chat, ("Ada", ADA), ("Grace", GRACE)) as (ada, grace),
    ):
        await talk(ada.client, grace.client)
        yield chat, one, two, ada, grace


async def test_members_of_a_room_on_two_services_see_and_hear_each_other(tmp_path: Path) -> None:
    async with call_over_two_services(tmp_path) as (chat, one, two, ada, grace):
        assert {ada.client.remote_address[1], grace.client.remote_address[1]} == {one.udp_port, two.udp_port}
        async with chat.member("Edsger") as edsger:
            people = edsger.welcome["voice"][ada.channel]
            assert sorted(person["nickname"] for person in people) == ["Ada", "Grace"]


async def test_members_of_a_room_on_three_services_see_and_hear_each_other(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        sfus = [await stack.enter_async_context(running_sfu()) for _ in range(3)]
        chat = await stack.enter_async_context(installation(tmp_path / "data", *sfus, room_size=1))
        people = (("Ada", ADA), ("Grace", GRACE), ("Barbara", BARBARA))
        clients = [caller.client for caller in await stack.enter_async_context(callers(chat, *people))]
        for one, other in combinations(clients, 2):
            await talk(one, other)
        assert {client.remote_address[1] for client in clients} == {sfu.udp_port for sfu in sfus}
        assert [sfu.faults for sfu in sfus] == [[], [], []]


# Ada joined first, so her service is the room's service.
@pytest.mark.parametrize("killed", ["of the room", "of the other members"])
async def test_members_move_to_the_remaining_service_without_affecting_others(
    tmp_path: Path, killed: str
) -> None:
    async with call_over_two_services(tmp_path) as (chat, one, two, ada, grace):
        sfus = {one.udp_port: one, two.udp_port: two}
        moving, staying = (ada, grace) if killed == "of the room" else (grace, ada)

        await sfus[moving.client.remote_address[1]].kill()
        await staying.client.lost(moving.client)
        async with asyncio.timeout(BACK_WITHIN_S):
            await moving.join_again()
        await talk(ada.client, grace.client)
        assert staying.client.closed is None
        assert grace.client.remote_address == ada.client.remote_address
        async with chat.member("Edsger") as edsger:
            people = edsger.welcome["voice"][ada.channel]
            assert sorted(person["nickname"] for person in people) == ["Ada", "Grace"]


async def test_members_on_a_service_that_vanishes_are_asked_to_rejoin(tmp_path: Path) -> None:
    async with call_over_two_services(tmp_path) as (_, one, two, ada, grace):
        sfus = {one.udp_port: one, two.udp_port: two}
        frozen = sfus[grace.client.remote_address[1]]
        # As in a power failure, the service does not close its connections.
        frozen.signal(signal.SIGSTOP)
        try:
            moved = await grace.live.pushed("voice_moved")
            assert moved == {"from_channel_id": grace.channel, "channel_id": grace.channel}
            await grace.client.leave()
            await grace.join()
            await talk(ada.client, grace.client)
            assert ada.client.closed is None
            assert sfus[grace.client.remote_address[1]] is not frozen
        finally:
            frozen.signal(signal.SIGCONT)


async def test_a_track_that_ends_also_ends_on_the_other_service(tmp_path: Path) -> None:
    async with call_over_two_services(tmp_path) as (_, one, two, ada, grace):
        del ada.client.sends[CAMERA]
        await ada.client.send("renegotiate", {})
        await grace.client.lost(ada.client)
        await grace.client.hears(ada.client)
        await grace.client.socket.close()
        await ada.client.lost(grace.client)
        await ada.client.lost(grace.client, "mic")
        assert one.faults == two.faults == []
