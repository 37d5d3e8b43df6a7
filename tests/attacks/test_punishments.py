"""Sanctions still apply to members who leave, delete their data or unlink a device and then return."""

import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from svc.chat.authentication import returning_people as recognition
from svc.chat.authentication.jwt_verification import Identity
from svc.chat.authentication.returning_people import RETENTION_MS
from svc.chat.community import DATABASE_NAME, Community
from tests.chat.chat_server import ChatServer, chat_server
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.internal_server import server_with_insight
from tests.kit.device import Device


@dataclass
class World:
    chat: ChatServer
    community: Community
    owner: HttpMember
    ada: HttpMember

    async def back(self, device: Device, **fields: str) -> HttpMember:
        """Join with a device, which may have joined before."""
        fields = fields or {"nickname": "Nobody you know", "invite_code": self.chat.invite}
        answer = await self.chat.sign_in(device, **fields)
        return HttpMember(self.chat, device, answer["member"]["id"], answer["access_token"])

    async def refused(self, device: Device, **fields: str) -> str:
        """Check that a sign-in is refused. Return the error code."""
        fields = fields or {"nickname": "Nobody you know", "invite_code": self.chat.invite}
        body = await device.proof(self.chat.http, self.chat.address) | fields
        async with self.chat.http.post("/api/auth/join", json=body) as response:
            assert response.status >= 400
            return str((await response.json())["error"])

    async def linked(self, member: HttpMember) -> HttpMember:
        code = (await member.done("POST", "/api/me/devices/link"))["code"]
        return await self.back(Device(), link_code=code)

    async def unlink(self, member: HttpMember) -> None:
        """Unlink all of a member's devices except the current one and sign in again."""
        for device in (await member.done("GET", "/api/me/devices"))["devices"]:
            if not device["current"]:
                await member.done("DELETE", f"/api/me/devices/{device['id']}")
                member.token = (await self.chat.sign_in(member.device))["access_token"]

    async def ban(self, member: HttpMember) -> None:
        await self.owner.done("PUT", f"/api/bans/{member.id}", {"reason": "spam"})

    async def time_out(self, member: HttpMember) -> None:
        await self.owner.done("PUT", f"/api/members/{member.id}/timeout", {"duration_s": 3600})

    async def post(self, member: HttpMember) -> str:
        """Post a message. Return the error code, or an empty string on success."""
        (general,) = [c.id for c in self.community.directory.channels.values() if c.name == "general"]
        path = f"/api/channels/{general}/messages"
        status, answer = await member.ask("POST", path, {"text": "Hello", "nonce": str(time.monotonic_ns())})
        return "" if status < 300 else str(answer["error"])


@pytest.fixture
async def world(variables: dict[str, str]) -> AsyncIterator[World]:
    async with server_with_insight(variables) as (chat, community):
        owner = await newcomer(chat, "Olga")
        yield World(chat, community, owner, await newcomer(chat, "Ada"))


async def leave(member: HttpMember) -> None:
    await member.done("POST", "/api/me/leave")


async def delete(member: HttpMember) -> None:
    await member.done("DELETE", "/api/me")


WAYS_OUT = pytest.mark.parametrize("go", [leave, delete])


@WAYS_OUT
async def test_a_timeout_continues_when_a_member_leaves_and_returns(world: World, go: Any) -> None:
    assert await world.post(world.ada) == ""
    await world.time_out(world.ada)
    await go(world.ada)
    again = await world.back(world.ada.device)
    assert again.id != world.ada.id
    assert await world.post(again) == "in_timeout"
    await world.owner.done("DELETE", f"/api/members/{again.id}/timeout")
    assert await world.post(again) == ""
    # A lifted sanction is not restored when the former member returns.
    await go(again)
    assert await world.post(await world.back(world.ada.device)) == ""


@WAYS_OUT
async def test_a_server_mute_continues_when_a_member_leaves_and_returns(world: World, go: Any) -> None:
    async with world.chat.member("", world.owner.token) as owner:
        await owner.ask("voice_mute", member_id=world.ada.id, muted=True)
        await go(world.ada)
        again = await world.back(world.ada.device)
        states = world.community.voice.states
        assert states.of(again.id).muted
        await owner.ask("voice_mute", member_id=again.id, muted=False)
        assert not states.of(again.id).muted
        assert not states.of(world.ada.id).muted


@WAYS_OUT
async def test_slow_mode_continues_when_a_member_leaves_and_returns(world: World, go: Any) -> None:
    (general,) = [c.id for c in world.community.directory.channels.values() if c.name == "general"]
    await world.owner.done("PATCH", f"/api/channels/{general}", {"slow_mode_s": 600})
    assert await world.post(world.ada) == ""
    await go(world.ada)
    assert await world.post(await world.back(world.ada.device)) == "slow_mode"


@WAYS_OUT
async def test_a_member_who_just_left_can_be_banned(world: World, go: Any) -> None:
    await go(world.ada)
    await world.ban(world.ada)
    assert await world.refused(world.ada.device) == "banned"
    await world.owner.done("DELETE", f"/api/bans/{world.ada.id}")
    await world.back(world.ada.device)


@WAYS_OUT
async def test_a_ban_applies_to_a_person_who_returned_as_another_member(world: World, go: Any) -> None:
    await go(world.ada)
    again = await world.back(world.ada.device)
    await world.ban(world.ada)
    assert again.id not in world.community.directory.members
    assert await world.refused(world.ada.device) == "banned"


async def test_a_ban_also_applies_to_an_unlinked_key(world: World) -> None:
    phone = await world.linked(world.ada)
    await world.unlink(world.ada)
    await world.ban(world.ada)
    assert await world.refused(phone.device) == "banned"
    assert await world.refused(world.ada.device) == "banned"


async def test_a_second_member_with_an_unlinked_key_shares_every_sanction(world: World) -> None:
    phone = await world.linked(world.ada)
    await world.unlink(world.ada)
    second = await world.back(phone.device)
    assert second.id != world.ada.id
    await world.time_out(world.ada)
    assert await world.post(second) == "in_timeout"
    async with world.chat.member("", world.owner.token) as owner:
        await owner.ask("voice_mute", member_id=second.id, deafened=True)
    assert world.community.voice.states.of(world.ada.id).deafened
    await world.ban(second)
    assert not {world.ada.id, second.id} & world.community.directory.members.keys()


async def test_nobody_can_sanction_a_person_who_is_also_a_higher_ranked_member(world: World) -> None:
    phone = await world.linked(world.ada)
    await world.unlink(world.ada)
    second = await world.back(phone.device)
    moderator = await newcomer(world.chat, "Mod")
    for person, role in ((moderator, "moderator"), (second, "admin")):
        await world.owner.done("PUT", f"/api/members/{person.id}/roles/{role}")
    path = f"/api/members/{world.ada.id}/timeout"
    assert await moderator.refused("PUT", path, {"duration_s": 60}) == "rank_too_low"
    assert await moderator.refused("PUT", f"/api/bans/{world.ada.id}", {}) == "rank_too_low"
    assert {world.ada.id, second.id} <= world.community.directory.members.keys()


async def test_sanctions_still_apply_to_a_recovered_members_earlier_keys(world: World) -> None:
    code = (await world.owner.done("POST", f"/api/members/{world.ada.id}/recovery"))["code"]
    recovered = await world.back(Device(), recovery_code=code)
    await world.ban(recovered)
    assert await world.refused(world.ada.device) == "banned"


async def test_a_sanctioned_key_cannot_be_linked_to_another_member(world: World) -> None:
    friend = await newcomer(world.chat, "Friend")
    await world.ban(world.ada)
    code = (await friend.done("POST", "/api/me/devices/link"))["code"]
    assert await world.refused(world.ada.device, link_code=code) == "banned"
    code = (await world.owner.done("POST", f"/api/members/{friend.id}/recovery"))["code"]
    assert await world.refused(world.ada.device, recovery_code=code) == "banned"


async def test_a_new_account_on_the_device_of_a_sanctioned_person_is_recognised(world: World) -> None:
    """Check a join in the tier `account` with an unknown identity and a verified key."""
    persons, now_ms = world.community.auth.authentication.persons, int(time.time() * 1000)
    other = Identity("https://issuer.example", "a new account", world.ada.device.thumbprint)

    async def taken_for() -> str | None:
        return await world.community.auth.authentication._database.write(
            lambda connection: persons.recognise(connection, other, now_ms)
        )

    # Without a sanction, two accounts that share a device do not count as the same person.
    assert await taken_for() is None
    await world.time_out(world.ada)
    assert await taken_for() == world.ada.id


async def test_sanctions_against_absent_people_survive_a_restart(variables: dict[str, str]) -> None:
    async with server_with_insight(variables) as (chat, community):
        owner = await newcomer(chat, "Olga")
        first = World(chat, community, owner, await newcomer(chat, "Ada"))
        await first.time_out(first.ada)
        async with chat.member("", owner.token) as live:
            await live.ask("voice_mute", member_id=first.ada.id, muted=True)
        await delete(first.ada)
    async with server_with_insight(variables) as (chat, community):
        second = World(chat, community, owner, first.ada)
        again = await second.back(first.ada.device)
        assert await second.post(again) == "in_timeout"
        assert community.voice.states.of(again.id).muted


def marks(variables: dict[str, str]) -> int:
    with closing(sqlite3.connect(Path(variables["DATA_DIR"]) / DATABASE_NAME)) as connection:
        return int(connection.execute("SELECT count(*) FROM marks").fetchone()[0])


async def test_only_hashes_of_a_deleted_member_remain_for_a_month(
    world: World, variables: dict[str, str]
) -> None:
    persons, deleted_ms = world.community.auth.authentication.persons, int(time.time() * 1000)
    before = marks(variables)
    await delete(world.ada)
    with closing(sqlite3.connect(Path(variables["DATA_DIR"]) / DATABASE_NAME)) as connection:
        dump = "\n".join(connection.iterdump())
    assert world.ada.device.thumbprint not in dump
    await persons.sweep(deleted_ms + RETENTION_MS - 1000)
    assert marks(variables) == before
    await persons.sweep(int(time.time() * 1000) + RETENTION_MS + 1000)
    assert marks(variables) == before - 1


@pytest.mark.parametrize("punishment", ["ban", "timeout", "mute"])
async def test_hashes_are_stored_as_long_as_a_sanction_lasts(
    world: World, variables: dict[str, str], punishment: str
) -> None:
    persons, before = world.community.auth.authentication.persons, marks(variables)
    path = f"/api/members/{world.ada.id}/timeout"
    async with world.chat.member("", world.owner.token) as owner:
        if punishment == "timeout":
            # The timeout outlasts the time for which hashes are stored without a sanction.
            await world.owner.done("PUT", path, {"duration_s": 28 * 24 * 3600})
        if punishment == "mute":
            await owner.ask("voice_mute", member_id=world.ada.id, muted=True)
    await delete(world.ada)
    if punishment == "ban":
        await world.ban(world.ada)
    later_ms = int(time.time() * 1000) + 27 * 24 * 3_600_000
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recognition, "RETENTION_MS", 0)
        await persons.sweep(later_ms)
        assert marks(variables) == before
        if punishment == "timeout":
            await persons.sweep(later_ms + 2 * 24 * 3_600_000)
            assert marks(variables) == before - 1


async def test_the_number_of_keys_per_person_is_limited(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recognition, "MAX_MARKS", 2)
    await world.linked(world.ada)
    code = (await world.ada.done("POST", "/api/me/devices/link"))["code"]
    assert await world.refused(Device(), link_code=code) == "too_many_devices"


async def test_a_server_upgraded_from_an_earlier_version_recognises_its_people(
    variables: dict[str, str],
) -> None:
    async with chat_server(variables) as chat:
        owner = await newcomer(chat, "Olga")
        ada = await newcomer(chat, "Ada")
    with closing(sqlite3.connect(Path(variables["DATA_DIR"]) / DATABASE_NAME)) as connection, connection:
        connection.execute("DELETE FROM marks")
        connection.execute("UPDATE members SET person_id = ''")
    async with server_with_insight(variables) as (chat, community):
        world = World(chat, community, owner, ada)
        owner.chat = ada.chat = chat
        await delete(ada)
        await world.ban(ada)
        assert await world.refused(ada.device) == "banned"
