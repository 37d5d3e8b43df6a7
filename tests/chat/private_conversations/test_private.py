"""Commits in a private conversation have a single order, and each key package is handed out only once."""

import asyncio
import time
from base64 import b64decode
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from svc.chat.community import Community
from svc.chat.private_conversations.framing import APPLICATION, COMMIT
from tests.chat.chat_server import ChatServer
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.internal_server import server_with_insight
from tests.chat.private_conversations.mls_messages import Client, key_package, path, private_message, text
from tests.kit.device import Device


@dataclass
class PrivateServer:
    chat: ChatServer
    community: Community
    data: Path
    server_id: str
    owner: HttpMember

    async def client(self, name: str, packages: int = 3, last_resort: bool = False) -> Client:
        return await self.of(await newcomer(self.chat, name), packages, last_resort)

    async def of(self, person: HttpMember, packages: int = 3, last_resort: bool = False) -> Client:
        return await Client(person, self.server_id, time.time()).take_part(packages, last_resort)

    async def group(self, first: Client, *others: Client) -> dict[str, Any]:
        """Open a conversation and create its group, in epoch 1, with exactly these devices."""
        conversation = await first.open(*others)
        packages = [b64decode(package["key_package"]) for package in await first.take(conversation, *others)]
        status, answer = await first.commit(conversation, 0, packages)
        assert status == 200, answer
        return conversation

    def bytes_on_disk(self) -> bytes:
        """Return the bytes of the database file and its write-ahead log."""
        return b"".join(file.read_bytes() for file in self.data.glob("community.sqlite3*"))


@pytest.fixture
async def server(variables: dict[str, str]) -> AsyncIterator[PrivateServer]:
    async with server_with_insight(variables) as (chat, community):
        owner = await newcomer(chat, "Owner")
        async with chat.http.get("/info") as response:
            server_id = (await response.json())["serverId"]
        yield PrivateServer(chat, community, Path(variables["DATA_DIR"]), server_id, owner)


async def test_two_people_share_one_conversation(server: PrivateServer) -> None:
    ada, ben = await server.client("Ada"), await server.client("Ben")
    opened = await asyncio.gather(*(one.open(other) for one, other in [(ada, ben), (ben, ada)] * 5))
    assert len({conversation["id"] for conversation in opened}) == 1
    assert [device["id"] for device in opened[0]["lacking"]] == sorted([ada.device_id, ben.device_id])
    three = [await ada.open(ben, await server.client("Cem")) for _ in range(2)]
    assert three[0]["id"] != three[1]["id"], "larger groups can have several conversations"


async def test_a_device_can_join_a_group_only_when_it_has_key_packages(server: PrivateServer) -> None:
    ada, ben = (
        await server.client("Ada"),
        Client(await newcomer(server.chat, "Ben"), server.server_id, time.time()),
    )
    conversation = await ada.person.done("POST", "/api/private/conversations", {"members": [ben.person.id]})
    changed = {"conversation_id": conversation["id"]}
    async with server.chat.member("", ada.person.token) as live:
        await ben.take_part(packages=0)
        assert await live.pushed("private_changed") == changed
        assert await ada.take(conversation, ben) == []
        await ben.publish(2)
        assert await live.pushed("private_changed") == changed
        assert len(await ada.take(conversation, ben)) == 1
        # When a device publishes more packages, there is no other event.
        await ben.publish(2)
        await live.ask("channels")
        assert "private_changed" not in live.kept_events()


async def test_only_one_concurrent_commit_is_accepted_and_the_others_get_the_missed_entries(
    server: PrivateServer,
) -> None:
    clients = [await server.client(name) for name in ("Ada", "Ben", "Cem", "Dia")]
    conversation = await server.group(*clients)
    for epoch in range(1, 8):
        answers = await asyncio.gather(*(client.commit(conversation, epoch) for client in clients))
        assert sorted(status for status, _ in answers) == [200, 409, 409, 409]
        for status, answer in answers:
            assert answer["epoch"] == epoch + 1
            if status == 409:
                assert answer["error"] == "epoch_passed"
                assert [entry["epoch"] for entry in answer["missed"]][-epoch:] == list(range(1, epoch + 1))
    logs = [await client.log(conversation, 1) for client in clients]
    assert all(log == logs[0] for log in logs) and len(logs[0]) == 7
    assert [entry["seq"] for entry in logs[0]] == list(range(2, 9))


async def test_concurrent_requests_never_get_the_same_key_package(server: PrivateServer) -> None:
    ben = await server.client("Ben", packages=60, last_resort=True)
    others = [await server.client(f"Other {number}") for number in range(4)]
    opened = [(other, await other.open(ben)) for other in others]
    taken = await asyncio.gather(*(other.take(one, ben) for other, one in opened for _ in range(25)))
    packages = [package[0]["key_package"] for package in taken]
    counts = sorted(packages.count(package) for package in set(packages))
    assert counts == [1] * 60 + [40], "sixty packages once each, and then the last-resort package"


async def test_a_device_without_packages_is_left_out_and_low_stock_is_reported(server: PrivateServer) -> None:
    ada, ben = await server.client("Ada"), await server.client("Ben", packages=1)
    conversation = await ada.open(ben)
    async with server.chat.member("", ben.person.token) as live:
        assert len(await ada.take(conversation, ben)) == 1
        assert await live.pushed("private_keys_low") == {"device_id": ben.device_id, "left": 0}
    assert await ada.take(conversation, ben) == []
    assert await ben.publish(5) == 5


async def test_only_its_device_can_read_or_delete_a_welcome(server: PrivateServer) -> None:
    ada, ben, eve = [await server.client(name) for name in ("Ada", "Ben", "Eve")]
    conversation = await server.group(ada, ben)
    assert [welcome["conversation_id"] for welcome in await ben.welcomes()] == [conversation["id"]]
    assert await ada.welcomes() == await eve.welcomes() == []
    welcome_id = (await ben.welcomes())[0]["id"]
    await eve.person.done("DELETE", f"/api/private/welcomes/{welcome_id}")
    assert len(await ben.welcomes()) == 1, "other members cannot delete it"
    await ben.person.done("DELETE", f"/api/private/welcomes/{welcome_id}")
    assert await ben.welcomes() == []
    assert await server.community._database.rows("SELECT * FROM private_welcomes") == []


async def test_resending_a_message_gets_the_same_response_and_adds_nothing(
    server: PrivateServer,
) -> None:
    ada, ben = await server.client("Ada"), await server.client("Ben")
    conversation = await server.group(ada, ben)
    body = private_message(conversation["id"], 1, APPLICATION)
    answers = await asyncio.gather(*(ada.send(conversation, 1, body) for _ in range(10)))
    assert answers == [(200, {"seq": 2, "epoch": 1})] * 10
    assert (await ben.send(conversation, 1, body))[1]["seq"] == 2, "regardless of the sender"
    commit = private_message(conversation["id"], 1, COMMIT)
    assert await ada.commit(conversation, 1, body=commit) == (200, {"seq": 3, "epoch": 2})
    assert await ada.commit(conversation, 1, body=commit) == (200, {"seq": 3, "epoch": 2})
    assert [entry["kind"] for entry in await ben.log(conversation, 1)] == ["message", "commit"]
    status, answer = await ada.send(conversation, 1)
    assert (status, answer["error"], answer["epoch"]) == (409, "epoch_passed", 2)


async def test_outsiders_learn_nothing_about_a_conversation(server: PrivateServer) -> None:
    ada, ben, eve = [await server.client(name) for name in ("Ada", "Ben", "Eve")]
    conversation = await server.group(ada, ben)
    for method, suffix in (("GET", ""), ("GET", "log"), ("POST", "leave"), ("POST", "lost")):
        assert await eve.person.refused(method, path(conversation, suffix)) == "unknown_conversation"
    assert (await eve.send(conversation, 1))[1]["error"] == "unknown_conversation"
    assert (await eve.commit(conversation, 1))[1]["error"] == "unknown_conversation"
    assert (await eve.person.done("GET", "/api/private/conversations")) == {"conversations": []}
    async with server.chat.member("", eve.person.token) as live:
        await ada.send(conversation, 1)
        await live.ask("ping")
        assert not [event for event in live.kept_events() if event.startswith("private")]


async def test_a_members_second_device_cannot_read_anything_until_it_is_added(server: PrivateServer) -> None:
    ada, ben = await server.client("Ada"), await server.client("Ben")
    conversation = await server.group(ada, ben)
    await ada.send(conversation, 1)
    other = await server.of(await second_device(ben.person))
    assert [device["id"] for device in (await ada.look(conversation))["lacking"]] == [other.device_id]
    assert await other.log(conversation) == []
    assert (await other.send(conversation, 1))[1]["error"] == "no_device"
    packages = [b64decode(package["key_package"]) for package in await ada.take(conversation, other)]
    assert (await ada.commit(conversation, 1, packages))[0] == 200
    assert await other.log(conversation) == [], "entries before the Welcome are hidden"
    await ada.send(conversation, 2)
    assert len(await other.log(conversation)) == 1


async def second_device(person: HttpMember) -> HttpMember:
    code = (await person.done("POST", "/api/me/devices/link"))["code"]
    device = Device()
    answer = await person.chat.sign_in(device, link_code=code)
    return HttpMember(person.chat, device, person.id, answer["access_token"])


async def test_nobody_can_send_until_an_unlinked_device_is_removed_from_the_group(
    server: PrivateServer,
) -> None:
    ada, ben = await server.client("Ada"), await server.client("Ben")
    lost = await server.of(await second_device(ben.person))
    conversation = await server.group(ada, ben, lost)
    await ben.person.done("DELETE", f"/api/me/devices/{lost.device_id}")
    # Unlinking a device invalidates the member's tokens, so Ben signs in again.
    ben.person.token = (await server.chat.sign_in(ben.person.device))["access_token"]
    status, answer = await ada.send(conversation, 1)
    assert (status, answer["error"]) == (409, "devices_changed")
    gone = [device["id"] for device in (await ada.look(conversation))["devices"] if device["gone"]]
    assert gone == [lost.device_id]
    assert (await ada.commit(conversation, 1, removed=gone))[0] == 200
    assert (await ada.send(conversation, 2))[0] == 200
    assert len(await ben.log(conversation)) == 2


@pytest.mark.parametrize("how", ["kick", "ban", "leave"])
async def test_a_former_member_is_removed_from_all_groups(server: PrivateServer, how: str) -> None:
    ada, ben, cem = [await server.client(name) for name in ("Ada", "Ben", "Cem")]
    conversation = await server.group(ada, ben, cem)
    pair = await server.group(ada, cem)
    match how:
        case "kick":
            await server.owner.done("POST", f"/api/members/{cem.person.id}/kick", {})
        case "ban":
            await server.owner.done("PUT", f"/api/bans/{cem.person.id}", {})
        case _:
            await cem.person.done("POST", "/api/me/leave")
    seen = await ada.look(conversation)
    assert cem.person.id not in seen["members"]
    assert [device["id"] for device in seen["devices"] if device["gone"]] == [cem.device_id]
    assert (await ben.send(conversation, 1))[1]["error"] == "devices_changed"
    assert (await ben.commit(conversation, 1, removed=[cem.device_id]))[0] == 200
    assert (await ben.send(conversation, 2))[0] == 200
    assert (await ada.send(pair, 1))[1]["error"] == "private_refused"


async def test_after_a_block_neither_member_can_write_to_the_other(server: PrivateServer) -> None:
    ada, ben = await server.client("Ada"), await server.client("Ben")
    conversation = await server.group(ada, ben)
    await ben.person.done("PUT", f"/api/me/blocks/{ada.person.id}")
    assert (await ada.send(conversation, 1))[1]["error"] == "private_refused"
    assert (await ben.send(conversation, 1))[1]["error"] == "private_refused"
    body = {"members": [ben.person.id]}
    assert await ada.person.refused("POST", "/api/private/conversations", body) == "private_refused"
    await ben.person.done("DELETE", f"/api/me/blocks/{ada.person.id}")
    assert (await ada.send(conversation, 1))[0] == 200


async def test_a_device_statement_is_valid_only_for_its_device_member_and_server(
    server: PrivateServer,
) -> None:
    ada = await server.client("Ada")
    eve = await server.client("Eve")
    wrong = [
        ada.stated(aud="another server"),
        ada.stated(sub=eve.person.id),
        ada.stated(use="something else"),
        ada.stated(mls_key="?"),
        eve.stated(sub=ada.person.id),
        "no statement",
    ]
    for statement in wrong:
        refusal = await ada.person.refused("PUT", "/api/private/device", {"statement": statement})
        assert refusal == "proof_invalid", statement
    foreign = key_package(eve.signature_key, ada.statement, int(time.time()) + 1000)
    over = key_package(ada.signature_key, ada.statement, int(time.time()) - 1)
    for package in (foreign, over, over[:-1], b""):
        body = {"key_packages": [text(package)]}
        assert await ada.person.refused("POST", "/api/private/key-packages", body) == "invalid_request"


async def test_a_commit_with_invalid_changes_is_rejected(server: PrivateServer) -> None:
    ada, ben, eve = [await server.client(name) for name in ("Ada", "Ben", "Eve")]
    conversation = await server.group(ada, ben)
    with_eve = await ada.open(eve)
    eves = [b64decode(package["key_package"]) for package in await ada.take(with_eve, eve)]
    for wanted in ({"packages": eves}, {"packages": [eve.package()]}, {"removed": [ada.device_id]},
                   {"removed": [ben.device_id]}, {"removed": ["nobody"]},
                   {"body": private_message("another", 1, COMMIT)},
                   {"body": private_message(conversation["id"], 1, APPLICATION)}):  # fmt: skip
        status, answer = await ada.commit(conversation, 1, **wanted)
        assert (status, answer["error"]) == (400, "invalid_request"), wanted
    assert (await ada.look(conversation))["epoch"] == 1


async def test_people_can_join_and_leave_a_group(server: PrivateServer) -> None:
    ada, ben, cem, dia = [await server.client(name) for name in ("Ada", "Ben", "Cem", "Dia")]
    conversation = await server.group(ada, ben, cem)
    await ben.person.done("PUT", path(conversation, f"members/{dia.person.id}"))
    assert [device["id"] for device in (await dia.look(conversation))["lacking"]] == [dia.device_id]
    await cem.person.done("POST", path(conversation, "leave"))
    assert await cem.person.refused("GET", path(conversation)) == "unknown_conversation"
    out = path(conversation, f"members/{cem.person.id}")
    assert await cem.person.refused("DELETE", out) == "unknown_conversation"
    assert await ada.person.refused("DELETE", out) == "unknown_member"
    pair = await server.group(ada, ben)
    assert await ada.person.refused("POST", path(pair, "leave")) == "invalid_request"
    assert await ada.person.refused("DELETE", path(pair, f"members/{ben.person.id}")) == "invalid_request"
    packages = [b64decode(package["key_package"]) for package in await ada.take(conversation, dia)]
    assert (await ada.commit(conversation, 1, packages, [cem.device_id]))[0] == 200
    response = await dia.look(conversation)
    assert {device["id"] for device in response["devices"]} == {ada.device_id, ben.device_id, dia.device_id}
    # Any member of a group can remove others. They get no later messages.
    await dia.person.done("DELETE", path(conversation, f"members/{ben.person.id}"))
    assert await ben.person.refused("GET", path(conversation, "log")) == "unknown_conversation"
    status, answer = await dia.send(conversation, 2)
    assert (status, answer["error"]) == (409, "devices_changed"), "his device is still in the MLS group"
    assert (await dia.commit(conversation, 2, removed=[ben.device_id]))[0] == 200
    assert (await dia.send(conversation, 3))[0] == 200
    assert (await dia.look(conversation))["members"] == sorted([ada.person.id, dia.person.id])


async def test_a_conversation_has_at_most_25_members(server: PrivateServer) -> None:
    ada, *others, last = [await server.client(f"Person {number}") for number in range(26)]
    conversation = await ada.open(*others)
    further = path(conversation, f"members/{last.person.id}")
    assert await ada.person.refused("PUT", further) == "too_many"
    all_of_them = {"members": [client.person.id for client in (*others, last)]}
    assert await ada.person.refused("POST", "/api/private/conversations", all_of_them) == "invalid_request"


async def test_a_device_that_lost_its_keys_can_ask_to_be_added_again(server: PrivateServer) -> None:
    ada, ben = await server.client("Ada"), await server.client("Ben")
    conversation = await server.group(ada, ben)
    await ben.person.done("POST", path(conversation, "lost"))
    seen = await ada.look(conversation)
    assert [device["id"] for device in seen["lacking"]] == [ben.device_id]
    packages = [b64decode(package["key_package"]) for package in await ada.take(conversation, ben)]
    assert (await ada.commit(conversation, 1, packages, [ben.device_id]))[0] == 200
    assert (await ben.send(conversation, 2))[0] == 200


async def test_a_group_can_be_restarted_only_when_no_devices_are_left_in_it(server: PrivateServer) -> None:
    ada, ben = await server.client("Ada"), await server.client("Ben")
    conversation = await server.group(ada, ben)
    assert (await ben.commit(conversation, 0))[1]["error"] == "epoch_passed"
    for client in (ada, ben):
        await client.person.done("POST", path(conversation, "lost"))
    packages = [b64decode(package["key_package"]) for package in await ben.take(conversation, ada)]
    assert await ben.commit(conversation, 0, packages) == (200, {"seq": 2, "epoch": 1})
    assert [entry["seq"] for entry in await ben.log(conversation)] == [2]
    assert await ada.log(conversation) == [] and len(await ada.welcomes()) == 1
    assert (await ada.send(conversation, 1))[0] == 200


async def test_expired_messages_are_erased_from_the_database_and_its_write_ahead_log(
    server: PrivateServer,
) -> None:
    ada, ben = await server.client("Ada"), await server.client("Ben")
    conversation = await server.group(ada, ben)
    old, new = b"old ciphertext " * 20, b"new ciphertext " * 20
    await ada.send(conversation, 1, private_message(conversation["id"], 1, APPLICATION, old))
    assert old in server.bytes_on_disk()
    sweep = server.community.private.sweep
    days = server.community._config.mls_retention_days
    sweep._now = lambda: time.time() + days * 24 * 60 * 60 - 60
    assert await sweep.run_once() == 0, "it is kept until then"
    sweep._now = lambda: time.time() + days * 24 * 60 * 60 + 60
    assert await sweep.run_once() == 3, "the commit, its Welcome and the message are deleted"
    await ada.send(conversation, 1, private_message(conversation["id"], 1, APPLICATION, new))
    assert old not in server.bytes_on_disk()
    assert new in server.bytes_on_disk()
    response = await ben.person.done("GET", path(conversation, "log"))
    assert [entry["seq"] for entry in response["entries"]] == [3] and response["first_seq"] == 3


async def test_a_member_has_at_most_eight_devices(server: PrivateServer) -> None:
    ada = await server.client("Ada")
    clients = [ada]
    for _ in range(8):
        clients.append(await server.of(await second_device(ada.person)))
    ben = await server.client("Ben")
    lacking = (await ben.open(ada))["lacking"]
    theirs = [device["id"] for device in lacking if device["member_id"] == ada.person.id]
    assert sorted(theirs) == sorted(client.device_id for client in clients[1:]), (
        "the oldest device was removed"
    )
    assert await ada.person.refused("POST", "/api/private/key-packages", {}) == "no_device"
