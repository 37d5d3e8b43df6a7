"""An hour after content is deleted, no file in the data folder contains its bytes."""

import random
import time
from base64 import b64encode
from pathlib import Path

import pytest

from svc.chat.private_conversations.framing import APPLICATION
from tests.chat.http_member import newcomer
from tests.chat.private_conversations.mls_messages import path, private_message
from tests.chat.private_conversations.test_private import PrivateServer, server
from tests.kit.wait import wait_until

__all__ = ["server"]

CHANNEL = "/api/channels/general"


def held(server: PrivateServer, marks: set[str]) -> set[str]:
    """Return the marker strings that occur in a file in the data folder."""
    data = b"".join(file.read_bytes() for file in Path(server.data).rglob("*") if file.is_file()).lower()
    return {mark for mark in marks if mark.encode() in data}


@pytest.mark.parametrize("count", [1, 12, 40, 150], ids="{} messages".format)
async def test_after_the_sweep_no_file_contains_expired_ciphertext(server: PrivateServer, count: int) -> None:
    ada, ben = await server.client("Ada"), await server.client("Ben")
    conversation = await server.group(ada, ben)
    chance = random.Random(count)
    marks = {f"ciphertext-{number:04}-" for number in range(count)}
    for mark in sorted(marks):
        body = mark.encode() + chance.randbytes(chance.choice([30, 200, 900, 6000]))
        status, _ = await ada.send(conversation, 1, private_message(conversation["id"], 1, APPLICATION, body))
        assert status == 200
    assert held(server, marks) == marks
    sweep = server.community.private.sweep
    sweep._now = lambda: time.time() + (server.community._config.mls_retention_days + 1) * 24 * 60 * 60
    assert await sweep.run_once() == count + 2, "the commit and its Welcome are deleted as well"
    assert held(server, marks) == set()
    await ada.send(conversation, 1)
    await ben.person.done("GET", path(conversation, "log"))
    assert held(server, marks) == set(), "this holds after the next write"


async def test_an_hour_after_a_deletion_no_file_contains_the_deleted_data(server: PrivateServer) -> None:
    ada, ben = await newcomer(server.chat, "Ada"), await newcomer(server.chat, "Nickname-of-Ben")
    ids, marks = [], {"nickname-of-ben", "draft-of-ada", "endpoint-of-ada"}
    for number in range(60):
        writer = ben if number % 3 == 0 else ada
        marks.add(mark := f"deletedword{number:03}x")
        sent = await writer.done(
            "POST", f"{CHANNEL}/messages", {"text": f"{mark} and others", "nonce": f"d{number}"}
        )
        ids.append((writer, sent["id"]))
        await ada.done(
            "POST", f"{CHANNEL}/messages", {"text": f"keptword{number:03}x", "nonce": f"k{number}"}
        )
    await ada.done("PUT", f"{CHANNEL}/draft", {"text": "draft-of-ada"})
    keys = {"p256dh": b64encode(b"\4" + bytes(64)).decode(), "auth": b64encode(bytes(16)).decode()}
    subscription = {"endpoint": "https://fcm.googleapis.com/endpoint-of-ada", "keys": keys}
    await ada.ask("PUT", "/api/me/push", subscription)
    messages = server.community.messages
    await messages.indexer.wait_indexed()
    for writer, message_id in ids:
        if writer is ada:
            await ada.done("DELETE", f"{CHANNEL}/messages/{message_id}")
    await ada.done("DELETE", f"{CHANNEL}/draft")
    await ada.done("DELETE", "/api/me/push")
    await ben.done("DELETE", "/api/me")

    async def is_erased() -> bool:
        left = "SELECT 1 FROM messages WHERE text LIKE '%deletedword%'"
        return not await messages.database.rows(left)

    await wait_until("the former member's messages are deleted", is_erased, within_s=10)
    await messages.index_cleanup.run_once()
    assert held(server, marks) == set()
    results = await ada.done("GET", "/api/search?query=keptword042x")
    assert len(results["messages"]) == 1
