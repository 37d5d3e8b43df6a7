"""Owners can change settings over HTTP and the live socket. The affected members are notified."""

import sqlite3
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from svc.chat.community import Community
from tests.chat.chat_server import ChatServer
from tests.chat.internal_server import give_role, server_with_insight

World = tuple[ChatServer, Community]
DEFAULTS = {
    "joinPolicy": "invite",
    "discoverable": False,
    "lanOpen": False,
    "profanityMode": "off",
    "name": "Tests",
    "description": "",
    "rules": "",
    "welcomeChannelId": None,
    "retentionDays": 0,
    "linkPreviews": True,
}


@pytest.fixture
async def world(variables: dict[str, str]) -> AsyncIterator[World]:
    async with server_with_insight(variables) as made:
        yield made


async def _owner(world: World) -> dict[str, str]:
    """Return headers that authenticate requests as the owner."""
    chat, community = world
    known = set(community.directory.members)
    token = await chat.join("Olga")
    (member_id,) = set(community.directory.members) - known
    give_role(community, member_id, "owner")
    return {"Authorization": f"Bearer {token}"}


async def _patch(chat: ChatServer, owner: dict[str, str], changes: object) -> tuple[int, Any]:
    async with chat.http.patch("/api/settings", json=changes, headers=owner) as response:
        return response.status, await response.json()


async def test_the_owner_reads_and_changes_the_settings(world: World) -> None:
    chat, community = world
    owner = await _owner(world)
    async with chat.http.get("/api/settings", headers=owner) as response:
        assert await response.json() == DEFAULTS
    assert await _patch(chat, owner, {"lanOpen": "on", "joinPolicy": "open"}) == (
        200,
        {**DEFAULTS, "lanOpen": True, "joinPolicy": "open"},
    )
    assert await _patch(chat, owner, {}) == (200, {**DEFAULTS, "lanOpen": True, "joinPolicy": "open"})
    assert community.settings.current.lanOpen


async def test_one_invalid_value_prevents_the_entire_change_and_all_problems_are_reported(
    world: World,
) -> None:
    chat, community = world
    changes = {"lanOpen": True, "joinPolicy": "closed", "discoverable": 3, "colour": "red"}
    status, body = await _patch(chat, await _owner(world), changes)
    assert (status, body["error"]) == (400, "invalid_settings")
    assert [(problem["path"], problem["code"]) for problem in body["problems"]] == [
        ("joinPolicy", "invalid"),
        ("discoverable", "wrong_type"),
        ("colour", "unknown_key"),
    ]
    assert asdict(community.settings.current) == DEFAULTS


@pytest.mark.parametrize("text", ["[]", "{", '"lanOpen"', ""])
async def test_settings_that_are_not_an_object_are_rejected(world: World, text: str) -> None:
    chat, _ = world
    owner = await _owner(world)
    async with chat.http.patch("/api/settings", data=text, headers=owner) as response:
        assert (response.status, (await response.json())["error"]) == (400, "invalid_json")


@pytest.mark.parametrize("role", ["admin", "moderator", "member", "guest"])
async def test_only_the_owner_may_change_settings(world: World, role: str) -> None:
    chat, community = world
    token = await chat.join("Ada")
    async with chat.member("", token) as ada:
        give_role(community, ada.id, role)
        headers = {"Authorization": f"Bearer {token}"}
        assert (await _patch(chat, headers, {"lanOpen": True}))[0] == 403
        assert (await ada.ask("settings_get"))["data"]["error"] == "forbidden"
        assert (await ada.ask("settings_change", lanOpen=True))["data"]["error"] == "forbidden"
    assert (await _patch(chat, {}, {"lanOpen": True}))[0] == 401
    assert asdict(community.settings.current) == DEFAULTS


async def test_the_live_socket_changes_settings_the_same_way(world: World) -> None:
    chat, community = world
    async with chat.member("Olga") as olga:
        give_role(community, olga.id, "owner")
        assert (await olga.ask("settings_get"))["data"] == DEFAULTS
        reply = await olga.ask("settings_change", profanityMode="censor")
        assert reply["data"] == {**DEFAULTS, "profanityMode": "censor"}
        reply = await olga.ask("settings_change", profanityMode="loud")
        assert reply["data"]["error"] == "invalid_settings"


async def test_members_get_the_public_settings_and_the_owner_gets_all_settings(world: World) -> None:
    chat, community = world
    async with chat.member("Olga") as olga, chat.member("Ada") as ada:
        assert ada.welcome["settings"] == {
            "joinPolicy": "invite",
            "lanOpen": False,
            "name": "Tests",
            "description": "",
            "rules": "",
        }
        give_role(community, olga.id, "owner")
        give_role(community, ada.id, "member")
        changes = {"discoverable": True, "joinPolicy": "open"}
        await olga.ask("settings_change", **changes)
        assert await olga.pushed("settings_changed") == changes
        assert await ada.pushed("settings_changed") == {"joinPolicy": "open"}


async def test_a_change_takes_effect_before_its_response(world: World) -> None:
    chat, community = world
    values: list[object] = []

    async def follow(value: object) -> None:
        values.append(value)

    async def stumble(value: object) -> None:
        raise OSError("no network")

    community.settings.on_change("discoverable", stumble)
    community.settings.on_change("discoverable", follow)
    owner = await _owner(world)
    assert (await _patch(chat, owner, {"discoverable": True, "lanOpen": True}))[0] == 200
    assert values == [True]
    # Setting the current value again is not a change.
    assert (await _patch(chat, owner, {"discoverable": True}))[0] == 200
    assert (await _patch(chat, owner, {"discoverable": "off"}))[0] == 200
    assert values == [True, False]


async def test_changes_are_in_the_audit_log(world: World) -> None:
    chat, _ = world
    owner = await _owner(world)
    await _patch(chat, owner, {"joinPolicy": "open", "lanOpen": False})
    async with chat.http.get("/api/audit?action=settings_change", headers=owner) as response:
        (entry,) = (await response.json())["entries"]
    assert entry["details"] == {"joinPolicy": {"from": "invite", "to": "open"}}
    assert entry["actor_id"]


async def test_settings_survive_a_restart_and_the_environment_sets_only_their_initial_values(
    variables: dict[str, str],
) -> None:
    variables["SERVER_DISCOVERABLE"] = "true"
    async with server_with_insight(variables) as world:
        chat, community = world
        assert community.settings.current.discoverable
        await _patch(chat, await _owner(world), {"discoverable": False, "profanityMode": "block"})
    async with server_with_insight(variables) as (_, community):
        assert asdict(community.settings.current) == {**DEFAULTS, "profanityMode": "block"}


async def test_a_stored_value_that_became_invalid_is_replaced_by_the_default(
    variables: dict[str, str],
) -> None:
    async with server_with_insight(variables):
        pass
    with sqlite3.connect(Path(variables["DATA_DIR"]) / "community.sqlite3") as file:
        file.execute("""INSERT OR REPLACE INTO settings VALUES ('joinPolicy', '"ask"'), ('colour', '1')""")
    file.close()
    async with server_with_insight(variables) as (_, community):
        assert asdict(community.settings.current) == DEFAULTS
