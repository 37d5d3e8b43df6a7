"""Access tokens of ended sessions and used founding codes are rejected."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from aiohttp import WSMsgType

from svc.chat.authentication.sessions import MAX_PER_DEVICE
from svc.chat.community import DATABASE_NAME
from svc.chat.live.frames import CloseCode
from tests.chat.chat_server import ChatServer, chat_server
from tests.chat.fake_sfu import FakeSfu
from tests.chat.internal_server import server_with_insight
from tests.chat.live_member import LiveMember
from tests.kit.device import Device

Json = dict[str, Any]


@pytest.fixture
async def ada(chat: ChatServer) -> Json:
    return await chat.sign_in(Device(), nickname="Ada", invite_code=chat.invite)


async def status(chat: ChatServer, answer: Json, method: str = "GET", path: str = "/api/members") -> int:
    headers = {"Authorization": f"Bearer {answer['access_token']}"}
    async with chat.http.request(method, path, headers=headers, json={}) as response:
        return response.status


async def sign_out(chat: ChatServer, answer: Json) -> None:
    body = {"refresh_token": answer["refresh_token"]}
    async with chat.http.post("/api/auth/logout", json=body) as response:
        assert response.status == 204


async def close_code(page: LiveMember) -> int:
    async with asyncio.timeout(30):
        while (message := await page.ws.receive()).type is WSMsgType.TEXT:
            pass
    assert message.type is WSMsgType.CLOSE
    return int(message.data)


async def test_an_access_token_is_invalid_after_signing_out(chat: ChatServer, ada: Json) -> None:
    assert await status(chat, ada) == 200
    await sign_out(chat, ada)
    assert await status(chat, ada) == 401


async def test_signing_out_closes_only_the_live_sockets_of_that_session(chat: ChatServer) -> None:
    device = Device()
    first_session = await chat.sign_in(device, nickname="Ada", invite_code=chat.invite)
    second_session = await chat.sign_in(device)
    async with (
        chat.member("", first_session["access_token"]) as first_page,
        chat.member("", second_session["access_token"]) as other,
    ):
        await sign_out(chat, first_session)
        assert await close_code(first_page) == CloseCode.SIGNED_OUT
        assert (await other.ask("ping"))["event"] == "ping"
    assert await status(chat, second_session) == 200


async def test_a_live_socket_rejects_the_token_of_an_ended_session(chat: ChatServer, ada: Json) -> None:
    await sign_out(chat, ada)
    async with chat.http.ws_connect("/live") as ws:
        await ws.receive_json()
        await ws.send_json({"event": "authenticate", "id": 1, "data": {"access_token": ada["access_token"]}})
        assert (await ws.receive_json())["data"]["error"] == "token_invalid"


async def test_a_call_ends_with_the_session_that_joined_it(chat: ChatServer, sfu: FakeSfu) -> None:
    await sfu.until("sync_request")
    session = await chat.sign_in(Device(), nickname="Ada", invite_code=chat.invite)
    async with chat.member("Bob") as bob, chat.member("", session["access_token"]) as ada:
        assert (await ada.ask("voice_join", channel_id="lobby"))["event"] == "voice_join"
        await sfu.send_event("peer_joined", "lobby", ada.id)
        assert await bob.people("lobby") == ["Ada"]
        await sign_out(chat, session)
        await sfu.until("disconnect_user")


async def test_a_grant_of_an_ended_session_does_not_admit_anyone_to_a_call(
    chat: ChatServer, sfu: FakeSfu
) -> None:
    await sfu.until("sync_request")
    session = await chat.sign_in(Device(), nickname="Ada", invite_code=chat.invite)
    async with chat.member("", session["access_token"]) as ada:
        await ada.ask("voice_join", channel_id="lobby")
        await sign_out(chat, session)
        await sfu.send_event("peer_joined", "lobby", ada.id)
        await sfu.until("disconnect_user")


async def test_a_token_with_the_session_of_another_member_is_rejected(
    variables: dict[str, str],
) -> None:
    async with server_with_insight(variables) as (chat, community):
        ada = await chat.sign_in(Device(), nickname="Ada", invite_code=chat.invite)
        bob = await chat.sign_in(Device(), nickname="Bob", invite_code=chat.invite)
        session_id = bob["refresh_token"].split(".")[0]
        member = community.directory.member(ada["member"]["id"])
        for foreign in (session_id, "a session that never was"):
            token = community.tokens.issue(member, foreign, time.time())
            assert await status(chat, {"access_token": token}) == 401


async def test_the_token_of_an_unlinked_device_is_invalid(chat: ChatServer, ada: Json) -> None:
    headers = {"Authorization": f"Bearer {ada['access_token']}"}
    async with chat.http.post("/api/me/devices/link", headers=headers, json={}) as response:
        code = (await response.json())["code"]
    phone = await chat.sign_in(Device(), link_code=code)
    async with chat.http.get("/api/me/devices", headers=headers) as response:
        devices = (await response.json())["devices"]
    (other,) = [device["id"] for device in devices if not device["current"]]
    assert await status(chat, ada, "DELETE", f"/api/me/devices/{other}") == 204
    assert await status(chat, phone) == 401


async def test_the_token_of_a_displaced_session_is_invalid(chat: ChatServer) -> None:
    device = Device()
    answers = [await chat.sign_in(device, nickname="Ada", invite_code=chat.invite)]
    answers += [await chat.sign_in(device) for _ in range(MAX_PER_DEVICE)]
    assert [await status(chat, answer) for answer in answers] == [401] + [200] * MAX_PER_DEVICE


async def test_sessions_and_sign_outs_survive_a_restart(variables: dict[str, str]) -> None:
    async with chat_server(variables) as chat:
        stays = await chat.sign_in(Device(), nickname="Ada", invite_code=chat.invite)
        ends = await chat.sign_in(Device(), nickname="Bob", invite_code=chat.invite)
        await sign_out(chat, ends)
    async with chat_server(variables) as chat:
        assert await status(chat, stays) == 200
        assert await status(chat, ends) == 401


def test_a_short_secret_prevents_startup_and_the_error_names_the_command_that_creates_one(
    variables: dict[str, str],
) -> None:
    command = [str(Path(sys.executable).with_name("svc")), "chat"]
    environment = os.environ | variables | {"JWT_SECRET": "s" * 31}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert "JWT_SECRET has 31 bytes" in ended.stderr
    assert "openssl rand -hex 32" in ended.stderr


# Founding code


def shown(variables: dict[str, str]) -> str:
    return (Path(variables["DATA_DIR"]) / "invite-code").read_text().strip()


async def refused(chat: ChatServer, code: str) -> str:
    body = await Device().proof(chat.http, chat.address) | {"nickname": "Eve", "invite_code": code}
    async with chat.http.post("/api/auth/join", json=body) as response:
        assert response.status == 403
        return str((await response.json())["error"])


async def test_the_founding_code_creates_one_owner_and_is_then_invalid(
    variables: dict[str, str],
) -> None:
    async with chat_server(variables) as chat:
        printed = shown(variables)
        founding, _, invite = printed.partition(".")
        # An invite does not make its user the owner.
        assert await refused(chat, invite) == "invite_invalid"
        owner = await chat.sign_in(Device(), nickname="Olga", invite_code=printed)
        assert "owner" in owner["member"]["roles"]
        assert await refused(chat, founding) == "invite_invalid"
        assert shown(variables) == invite
    async with chat_server(variables) as chat:
        assert await refused(chat, founding) == "invite_invalid"
        assert shown(variables) == invite


async def test_the_first_link_also_lets_a_second_device_join_as_a_member(
    variables: dict[str, str],
) -> None:
    async with chat_server(variables) as chat:
        printed = shown(variables)
        first = await chat.sign_in(Device(), nickname="Olga", invite_code=printed)
        second = await chat.sign_in(Device(), nickname="Ada", invite_code=printed)
        assert (first["member"]["roles"], second["member"]["roles"]) == (["member", "owner"], ["member"])


async def test_an_unused_founding_code_survives_a_restart(
    variables: dict[str, str],
) -> None:
    async with chat_server(variables):
        printed = shown(variables)
    async with chat_server(variables) as chat:
        assert shown(variables) == printed
        assert (
            "owner" in (await chat.sign_in(Device(), nickname="Olga", invite_code=printed))["member"]["roles"]
        )


async def test_the_printed_code_is_a_listed_invite_that_expires_and_can_be_revoked(
    variables: dict[str, str],
) -> None:
    async with chat_server(variables) as chat:
        owner = await chat.sign_in(Device(), nickname="Olga", invite_code=chat.invite)
        headers = {"Authorization": f"Bearer {owner['access_token']}"}
        printed = shown(variables)
        async with chat.http.get("/api/invites", headers=headers) as response:
            (invite,) = (await response.json())["invites"]
        assert (invite["code"], invite["role_id"], invite["created_by"]) == (printed, "member", None)
        assert 6.9 < (invite["expires_at_ms"] / 1000 - time.time()) / 86_400 <= 7
        async with chat.http.delete(f"/api/invites/{invite['id']}", headers=headers) as response:
            assert response.status == 204
        assert await refused(chat, printed) == "invite_invalid"
    # The next start prints a new invite.
    async with chat_server(variables) as chat:
        assert shown(variables) not in ("", printed)
        await chat.sign_in(Device(), nickname="Ada", invite_code=shown(variables))


async def test_an_invite_that_is_about_to_expire_is_replaced_at_startup(variables: dict[str, str]) -> None:
    async with server_with_insight(variables) as (_, community):
        code, now = shown(variables).partition(".")[2], time.time()
        assert await community.auth.invites.standing(now + 5.9 * 86_400) == code
        later = await community.auth.invites.standing(now + 6.1 * 86_400)
        assert later != code
        assert await community.auth.invites.standing(now + 6.1 * 86_400) == later


@pytest.mark.parametrize("joined", [False, True])
async def test_an_earlier_versions_code_expires_and_cannot_found_a_community(
    variables: dict[str, str], joined: bool
) -> None:
    async with chat_server(variables) as chat:
        if joined:
            await chat.sign_in(Device(), nickname="Olga", invite_code=chat.invite)
    folder = Path(variables["DATA_DIR"])
    (folder / "invite-code").write_text("abcdefghjkmnpqrs\n")
    with closing(sqlite3.connect(folder / DATABASE_NAME)) as connection, connection:
        connection.execute("UPDATE invites SET code = 'abcdefghjkmnpqrs', expires_at_ms = NULL")
        connection.execute("UPDATE facts SET value = 'abcdefghjkmnpqrs' WHERE name = 'first_invite'")
    async with chat_server(variables) as chat:
        if joined:
            assert shown(variables) == "abcdefghjkmnpqrs"
        else:
            assert await refused(chat, "abcdefghjkmnpqrs") == "invite_invalid"
            assert shown(variables).endswith(".abcdefghjkmnpqrs")
            await chat.sign_in(Device(), nickname="Olga", invite_code=shown(variables))
        await chat.sign_in(Device(), nickname="Ada", invite_code="abcdefghjkmnpqrs")
    with closing(sqlite3.connect(folder / DATABASE_NAME)) as connection:
        (ends,) = connection.execute("SELECT expires_at_ms FROM invites").fetchone()
    assert ends is not None


async def test_the_founder_of_a_server_with_imported_history_is_the_owner(
    variables: dict[str, str],
) -> None:
    async with chat_server(variables):
        pass
    with closing(sqlite3.connect(Path(variables["DATA_DIR"]) / DATABASE_NAME)) as connection, connection:
        connection.execute(
            "INSERT INTO members (id, nickname, joined_at_ms, left_at_ms) VALUES ('one', 'Elsewhere', 1, 1)"
        )
    async with chat_server(variables) as chat:
        founder = await chat.sign_in(Device(), nickname="Olga", invite_code=shown(variables))
        assert "owner" in founder["member"]["roles"]


# Codes for linking another device


async def link_code(chat: ChatServer, answer: Json) -> str:
    headers = {"Authorization": f"Bearer {answer['access_token']}"}
    async with chat.http.post("/api/me/devices/link", headers=headers) as response:
        return str((await response.json())["code"])


async def refused_code(chat: ChatServer, code: str, kind: str = "link_code") -> bool:
    """Try to join with this code from a new device. Return whether the error is `code_invalid`."""
    device = Device()
    proof = await device.proof(chat.http, chat.address)
    async with chat.http.post("/api/auth/join", json=proof | {kind: code}) as response:
        return bool((await response.json()).get("error") == "code_invalid")


async def test_unlinking_a_device_invalidates_the_codes_that_it_created(chat: ChatServer, ada: Json) -> None:
    stolen = await chat.sign_in(Device(), link_code=await link_code(chat, ada))
    code = await link_code(chat, stolen)
    headers = {"Authorization": f"Bearer {stolen['access_token']}"}
    async with chat.http.get("/api/me/devices", headers=headers) as response:
        devices = (await response.json())["devices"]
    (device_id,) = (device["id"] for device in devices if device["current"])
    assert await status(chat, ada, "DELETE", f"/api/me/devices/{device_id}") == 204
    assert await refused_code(chat, code)


async def test_signing_out_invalidates_the_code_for_another_device(chat: ChatServer, ada: Json) -> None:
    code = await link_code(chat, ada)
    await sign_out(chat, ada)
    assert await refused_code(chat, code)


async def test_a_former_owner_cannot_recover_any_account_with_an_earlier_code(chat: ChatServer) -> None:
    owner = await chat.sign_in(Device(), nickname="Ada", invite_code=chat.invite)
    heir = await chat.sign_in(Device(), nickname="Ben", invite_code=chat.invite)
    headers = {"Authorization": f"Bearer {owner['access_token']}"}
    path = f"/api/members/{heir['member']['id']}"
    async with chat.http.post(f"{path}/recovery", headers=headers) as response:
        code = (await response.json())["code"]
    assert await status(chat, owner, "POST", f"{path}/owner") == 200
    assert await refused_code(chat, code, "recovery_code")
    assert await status(chat, heir) == 200
