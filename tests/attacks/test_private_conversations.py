"""End-to-end encrypted conversations cannot be used to overload members or the server."""

import os
import time
from base64 import b64decode
from collections.abc import AsyncIterator

import pytest

from svc.chat.community import Community
from svc.chat.private_conversations import rules
from svc.chat.private_conversations.framing import COMMIT
from svc.chat.private_conversations.store import MAX_READ_BYTES
from tests.chat.http_member import newcomer
from tests.chat.internal_server import server_with_insight
from tests.chat.private_conversations.mls_messages import Client, path, private_message, text, welcome

COMMIT_BYTES = 90_000
WELCOME_BYTES = 400_000


@pytest.fixture
async def people(variables: dict[str, str]) -> AsyncIterator[tuple[Community, list[Client]]]:
    async with server_with_insight(variables) as (chat, community):
        async with chat.http.get("/info") as response:
            server_id = (await response.json())["serverId"]
        persons = [await newcomer(chat, name) for name in ("Owner", "Ada", "Ben", "Cem")]
        yield community, [await Client(person, server_id, time.time()).take_part(9) for person in persons[1:]]


def large(conversation_id: str, epoch: int) -> bytes:
    return private_message(conversation_id, epoch, COMMIT, os.urandom(COMMIT_BYTES))


async def test_each_read_of_the_log_is_limited_and_the_next_read_continues_after_it(
    people: tuple[Community, list[Client]],
) -> None:
    ada, ben, _ = people[1]
    conversation = await ada.open(ben)
    epochs = MAX_READ_BYTES // COMMIT_BYTES + 2
    for epoch in range(epochs):
        status, answer = await ada.commit(conversation, epoch, body=large(conversation["id"], epoch))
        assert status == 200, answer
    first = await ada.log(conversation)
    assert (
        MAX_READ_BYTES
        <= sum(len(b64decode(entry["body"])) for entry in first)
        < MAX_READ_BYTES + 2 * COMMIT_BYTES
    )
    rest_of_log = await ada.log(conversation, first[-1]["seq"])
    assert [entry["epoch"] for entry in first + rest_of_log] == list(range(epochs))
    # A late commit is answered with exactly the missed entries.
    _, late = await ada.commit(conversation, 0, body=large(conversation["id"], 0))
    assert [entry["seq"] for entry in late["missed"]] == [entry["seq"] for entry in first]


async def test_only_one_welcome_per_group_is_stored_for_a_device_that_never_fetches_its_welcomes(
    people: tuple[Community, list[Client]],
) -> None:
    community, (ada, ben, cem) = people
    groups = [await ada.open(ben, cem) for _ in range(4)]
    made: dict[str, list[bytes]] = {}
    for group in groups:
        for epoch in range(2):
            packages = [b64decode(package["key_package"]) for package in await ada.take(group, ben)]
            sent = welcome(*packages, size=WELCOME_BYTES)
            body: dict[str, object] = {
                "commit": text(private_message(group["id"], epoch, COMMIT)),
                "removed": [ben.device_id] if epoch else [],
                "welcome": text(sent),
            }
            await ada.person.done("POST", path(group, "commits"), body)
            made.setdefault(group["id"], []).append(sent)
            if not epoch:
                await ben.person.done("POST", path(group, "lost"))
    kept = await community._database.rows("SELECT body FROM private_welcomes")
    assert sorted(row["body"] for row in kept) == sorted(bodies[-1] for bodies in made.values())
    # The welcome messages arrive in several parts.
    seen = []
    while welcomes := await ben.welcomes():
        assert len(welcomes) <= MAX_READ_BYTES // WELCOME_BYTES + 1
        for entry in welcomes:
            seen.append(entry["conversation_id"])
            await ben.person.done("DELETE", f"/api/private/welcomes/{entry['id']}")
    assert sorted(seen) == sorted(group["id"] for group in groups)


async def test_the_number_of_conversations_that_a_member_can_be_added_to_is_limited(
    people: tuple[Community, list[Client]], monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, ben, cem = people[1]
    monkeypatch.setattr(rules, "MAX_CONVERSATIONS", 3)
    groups = [await ada.open(ben, cem) for _ in range(3)]
    for group in groups[:2]:
        await ada.person.done("POST", path(group, "leave"))
    wanted = {"members": [ben.person.id, cem.person.id]}
    # By now, Ada is in one group, and the two members she added are in three.
    assert await ada.person.refused("POST", "/api/private/conversations", wanted) == "too_many"
    for group in (groups[0], groups[2]):
        await cem.person.done("POST", path(group, "leave"))
    await ben.person.done("POST", path(groups[0], "leave"))
    await ada.open(cem)
    await ben.open(cem)
    assert await ada.person.refused("PUT", path(groups[2], f"members/{cem.person.id}")) == "too_many"


async def test_adding_others_to_conversations_is_rate_limited(
    people: tuple[Community, list[Client]],
) -> None:
    ada, ben, cem = people[1]
    for _ in range(rules.OPEN_BURST - 1):
        await ada.open(ben, cem)
    pair = await ada.open(ben)
    wanted = {"members": [ben.person.id, cem.person.id]}
    status, answer = await ada.person.ask("POST", "/api/private/conversations", wanted)
    assert (status, answer["error"]) == (429, "rate_limited") and answer["retry_after_ms"] > 60_000
    assert (await ada.open(ben))["id"] == pair["id"], "an existing conversation can be opened without a limit"
    await ben.open(ada, cem)
