"""Tests adding a device with a code, removing a device and recovering from the loss of all devices."""

from collections.abc import Mapping
from typing import Any

import pytest

from svc.chat.authentication.one_time_codes import Kind
from svc.chat.authentication.rules import MAX_DEVICES
from tests.chat.chat_server import ChatServer
from tests.kit.device import Device

Json = dict[str, Any]


async def request(
    chat: ChatServer, method: str, path: str, signed_in: Mapping[str, Any] | None
) -> tuple[int, Json]:
    headers = {"Authorization": f"Bearer {signed_in['access_token']}"} if signed_in else {}
    async with chat.http.request(method, path, headers=headers) as response:
        return response.status, (await response.json() if response.status != 204 else {})


async def tried(chat: ChatServer, device: Device, **fields: object) -> tuple[int, str]:
    """Try to join. Return the HTTP status and the error code, or an empty string on success."""
    body = await device.proof(chat.http, chat.address) | fields
    async with chat.http.post("/api/auth/join", json=body) as response:
        return response.status, (await response.json()).get("error", "")


@pytest.fixture
async def phone() -> Device:
    return Device()


@pytest.fixture
async def ada(chat: ChatServer, phone: Device) -> Json:
    """Sign in the owner on a phone."""
    return await chat.sign_in(phone, nickname="Ada", invite_code=chat.invite, device_name="Phone")


async def code(chat: ChatServer, signed_in: Json) -> str:
    status, answer = await request(chat, "POST", "/api/me/devices/link", signed_in)
    assert status == 201
    assert answer.keys() == {"code", "expires_at_ms"}
    return str(answer["code"])


async def devices(chat: ChatServer, signed_in: Json) -> list[Json]:
    status, answer = await request(chat, "GET", "/api/me/devices", signed_in)
    assert status == 200
    listed: list[Json] = answer["devices"]
    return listed


async def test_a_second_device_is_the_same_member_and_can_be_unlinked(chat: ChatServer, ada: Json) -> None:
    async with chat.member("Ada", ada["access_token"]) as page:
        laptop = Device()
        linked = await chat.sign_in(laptop, link_code=await code(chat, ada), device_name="Laptop")
        assert linked["member"]["id"] == ada["member"]["id"]
        event = await page.pushed("device_linked")
        assert (event["device"]["name"], event["device"]["tier"]) == ("Laptop", "local")

    both = await devices(chat, linked)
    assert [(device["name"], device["current"], device["tier"]) for device in both] == [
        ("Laptop", True, "local"),
        ("Phone", False, "local"),
    ]
    status, _ = await request(chat, "DELETE", f"/api/me/devices/{both[0]['id']}", ada)
    assert status == 204
    assert (await request(chat, "GET", "/api/me/devices", linked))[0] == 401
    async with chat.http.post(
        "/api/auth/refresh", json={"refresh_token": linked["refresh_token"]}
    ) as response:
        assert response.status == 401
    assert await tried(chat, laptop) == (400, "invalid_nickname")
    # The other device stays signed in after a refresh.
    async with chat.http.post("/api/auth/refresh", json={"refresh_token": ada["refresh_token"]}) as response:
        assert [device["name"] for device in await devices(chat, await response.json())] == ["Phone"]


async def test_a_link_code_works_once_and_a_new_one_replaces_it(chat: ChatServer, ada: Json) -> None:
    first, second = await code(chat, ada), await code(chat, ada)
    assert await tried(chat, Device(), link_code=first) == (403, "code_invalid")
    # The code may be typed in capitals.
    await chat.sign_in(Device(), link_code=f" {second.upper()} ")
    assert await tried(chat, Device(), link_code=second) == (403, "code_invalid")


async def test_a_link_code_expires(chat: ChatServer, ada: Json, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Kind, "lifetime_ms", 0)
    assert await tried(chat, Device(), link_code=await code(chat, ada)) == (403, "code_invalid")


async def test_link_codes_and_recovery_codes_are_not_interchangeable(chat: ChatServer, ada: Json) -> None:
    assert await tried(chat, Device(), recovery_code=await code(chat, ada)) == (403, "code_invalid")


async def test_a_member_cannot_be_linked_to_another_member(chat: ChatServer, ada: Json) -> None:
    bobs = Device()
    await chat.sign_in(bobs, nickname="Bob", invite_code=chat.invite)
    link_code = await code(chat, ada)
    assert await tried(chat, bobs, link_code=link_code) == (409, "identity_taken")
    # The failed attempt did not use up the code.
    await chat.sign_in(Device(), link_code=link_code)


async def test_a_linked_device_may_use_a_code_for_its_own_member(
    chat: ChatServer, ada: Json, phone: Device
) -> None:
    again = await chat.sign_in(phone, link_code=await code(chat, ada))
    assert again["member"]["id"] == ada["member"]["id"]


async def test_the_last_device_cannot_be_unlinked(chat: ChatServer, ada: Json) -> None:
    (only,) = await devices(chat, ada)
    status, answer = await request(chat, "DELETE", f"/api/me/devices/{only['id']}", ada)
    assert (status, answer["error"]) == (409, "last_device")
    assert (await request(chat, "GET", "/api/me/devices", ada))[0] == 200


async def test_the_device_of_another_member_cannot_be_unlinked(chat: ChatServer, ada: Json) -> None:
    bob = await chat.sign_in(Device(), nickname="Bob", invite_code=chat.invite)
    (phone,) = await devices(chat, ada)
    for device_id in (phone["id"], "nonsense"):
        status, answer = await request(chat, "DELETE", f"/api/me/devices/{device_id}", bob)
        assert (status, answer["error"]) == (404, "unknown_device")


async def test_a_member_has_a_limited_number_of_devices(
    chat: ChatServer, ada: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MAX_DEVICES == 20
    monkeypatch.setattr("svc.chat.authentication.rules.MAX_DEVICES", 2)
    await chat.sign_in(Device(), link_code=await code(chat, ada))
    assert await tried(chat, Device(), link_code=await code(chat, ada)) == (409, "too_many_devices")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/me/devices"),
        ("POST", "/api/me/devices/link"),
        ("POST", "/api/me/devices/recovery"),
        ("DELETE", "/api/me/devices/x"),
        ("POST", "/api/members/x/recovery"),
    ],
)
async def test_unauthenticated_requests_about_devices_are_rejected(
    chat: ChatServer, method: str, path: str
) -> None:
    status, answer = await request(chat, method, path, None)
    assert (status, answer["error"]) == (401, "auth_required")


async def kept(chat: ChatServer, signed_in: Json) -> str:
    status, answer = await request(chat, "POST", "/api/me/devices/recovery", signed_in)
    assert status == 201
    _, devices = await request(chat, "GET", "/api/me/devices", signed_in)
    assert devices["kept_code_made_at_ms"] == answer["made_at_ms"]
    return str(answer["code"])


async def has_code(chat: ChatServer, signed_in: Json) -> bool:
    _, devices = await request(chat, "GET", "/api/me/devices", signed_in)
    return devices["kept_code_made_at_ms"] is not None


async def test_a_members_clients_are_notified_when_a_recovery_code_is_created(
    chat: ChatServer, ada: Json
) -> None:
    # Somebody with a stolen token may have created the code.
    async with chat.member("Ada", ada["access_token"]) as page:
        await kept(chat, ada)
        _, shown = await request(chat, "GET", "/api/me/devices", ada)
        assert await page.pushed("recovery_code_made") == {"made_at_ms": shown["kept_code_made_at_ms"]}


async def test_a_member_who_lost_all_devices_can_sign_in_with_their_recovery_code(
    chat: ChatServer, ada: Json
) -> None:
    lost = Device()
    bob = await chat.sign_in(lost, nickname="Bob", invite_code=chat.invite)
    assert not await has_code(chat, bob)
    first, second = await kept(chat, bob), await kept(chat, bob)
    assert await tried(chat, Device(), recovery_code=first) == (403, "code_invalid")
    # A recovery code cannot be used to link another device.
    assert await tried(chat, Device(), link_code=second) == (403, "code_invalid")

    signed_in = Device()
    recovered = await chat.sign_in(signed_in, recovery_code=f" {second.upper()} ", device_name="New")
    assert recovered["member"]["id"] == bob["member"]["id"]
    assert [device["name"] for device in await devices(chat, recovered)] == ["New"]
    assert (await request(chat, "GET", "/api/me/devices", bob))[0] == 401
    assert await tried(chat, lost) == (400, "invalid_nickname")
    # The code was valid for only one use.
    assert not await has_code(chat, recovered)
    assert await tried(chat, Device(), recovery_code=second) == (403, "code_invalid")


async def test_a_recovery_code_survives_signing_out_but_not_an_unlinked_device(
    chat: ChatServer, ada: Json, phone: Device
) -> None:
    code_kept = await kept(chat, ada)
    laptop = await chat.sign_in(Device(), link_code=await code(chat, ada))
    async with chat.http.post(
        "/api/auth/logout", json={"refresh_token": laptop["refresh_token"]}
    ) as response:
        assert response.status == 204
    assert await has_code(chat, ada)
    [laptop_id] = [device["id"] for device in await devices(chat, ada) if not device["current"]]
    assert (await request(chat, "DELETE", f"/api/me/devices/{laptop_id}", ada))[0] == 204
    again = await chat.sign_in(phone)
    assert not await has_code(chat, again)
    assert await tried(chat, Device(), recovery_code=code_kept) == (403, "code_invalid")


async def test_a_removed_member_cannot_sign_in_with_their_recovery_code(chat: ChatServer, ada: Json) -> None:
    bob = await chat.sign_in(Device(), nickname="Bob", invite_code=chat.invite)
    code_kept = await kept(chat, bob)
    headers = {"Authorization": f"Bearer {ada['access_token']}"}
    path = f"/api/members/{bob['member']['id']}/kick"
    async with chat.http.post(path, headers=headers, json={}) as response:
        assert response.status == 204
    assert await tried(chat, Device(), recovery_code=code_kept) == (403, "code_invalid")


async def test_the_owner_can_recover_a_member_who_lost_all_devices(chat: ChatServer, ada: Json) -> None:
    lost = Device()
    bob = await chat.sign_in(lost, nickname="Bob", invite_code=chat.invite)
    path = f"/api/members/{bob['member']['id']}/recovery"
    status, answer = await request(chat, "POST", path, ada)
    assert status == 201
    # Nothing changes for the member until the code is used.
    assert (await request(chat, "GET", "/api/me/devices", bob))[0] == 200

    signed_in = Device()
    recovered = await chat.sign_in(signed_in, recovery_code=answer["code"], device_name="New")
    assert recovered["member"]["id"] == bob["member"]["id"]
    assert [device["name"] for device in await devices(chat, recovered)] == ["New"]
    # Somebody else may have the lost devices, so those devices no longer grant access.
    assert (await request(chat, "GET", "/api/me/devices", bob))[0] == 401
    assert await tried(chat, lost) == (400, "invalid_nickname")
    assert await tried(chat, Device(), recovery_code=answer["code"]) == (403, "code_invalid")

    _, audit = await request(chat, "GET", "/api/audit", ada)
    acts = [(entry["action"], entry["actor_id"], entry["target_id"]) for entry in audit["entries"]]
    bob_id = bob["member"]["id"]
    assert ("recovery_create", ada["member"]["id"], bob_id) in acts
    assert ("recovery_use", bob_id, bob_id) in acts
    assert answer["code"] not in str(audit)


async def test_only_the_owner_can_recover_and_only_members_can_be_recovered(
    chat: ChatServer, ada: Json
) -> None:
    bob = await chat.sign_in(Device(), nickname="Bob", invite_code=chat.invite)
    status, answer = await request(chat, "POST", f"/api/members/{ada['member']['id']}/recovery", bob)
    assert (status, answer["error"]) == (403, "forbidden")
    status, answer = await request(chat, "POST", "/api/members/nobody/recovery", ada)
    assert (status, answer["error"]) == (404, "unknown_member")
