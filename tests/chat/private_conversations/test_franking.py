"""A private message can be reported only with the content that was sent."""

import hashlib
import hmac
import json
import os
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from svc.chat.private_conversations.framing import APPLICATION
from tests.chat.private_conversations.mls_messages import Client, path, private_message, text
from tests.chat.private_conversations.test_private import PrivateServer, server

__all__ = ["server"]

PLAINTEXT = json.dumps(["You are not welcome here", "picture.png"], separators=(",", ":"))


@dataclass
class Scene:
    """A conversation in which Ada has sent a message to Ben."""

    server: PrivateServer
    ada: Client
    ben: Client
    conversation: dict[str, Any]
    key: bytes
    body: bytes
    entry: dict[str, Any]

    def proof(self, **changes: object) -> dict[str, object]:
        return {
            "text": "Look at this",
            "member_id": self.ada.person.id,
            "sent_at_ms": self.entry["sent_at_ms"],
            "said": PLAINTEXT,
            "key": text(self.key),
            "tag": self.entry["tag"],
        } | changes

    async def report(self, reporter: Client, proof: dict[str, object]) -> tuple[int, Any]:
        return await reporter.person.ask("POST", path(self.conversation, "reports"), proof)

    async def reports(self) -> list[dict[str, Any]]:
        return list((await self.server.owner.done("GET", "/api/reports"))["reports"])


def committed(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")


async def sent(client: Client, conversation: dict[str, Any], key: bytes) -> tuple[bytes, dict[str, Any]]:
    """Send a message. Return its body and its log entry."""
    commitment = committed(key, PLAINTEXT)
    body = private_message(conversation["id"], 1, APPLICATION, commitment=commitment)
    status, answer = await client.send(conversation, 1, body, commitment)
    assert status == 200, answer
    return body, (await client.log(conversation, answer["seq"] - 1))[0]


@pytest.fixture
async def scene(server: PrivateServer) -> AsyncIterator[Scene]:
    ada, ben = await server.client("Ada"), await server.client("Ben")
    conversation = await server.group(ada, ben)
    key = os.urandom(32)
    body, entry = await sent(ada, conversation, key)
    yield Scene(server, ada, ben, conversation, key, body, entry)


async def test_a_recipient_can_report_a_message_and_moderators_see_that_it_is_verified(
    scene: Scene,
) -> None:
    status, answer = await scene.report(scene.ben, scene.proof())
    assert status == 201, answer
    [report] = await scene.reports()
    assert report["id"] == answer["id"]
    assert report["reporter_id"] == scene.ben.person.id
    assert report["member_id"] == scene.ada.person.id
    assert report["text"] == "Look at this"
    assert report["private"] == {
        "conversation_id": scene.conversation["id"],
        "sent_at_ms": scene.entry["sent_at_ms"],
        "text": "You are not welcome here",
        "files": ["picture.png"],
    }


async def test_a_report_of_a_message_that_was_not_sent_is_rejected(scene: Scene) -> None:
    altered = PLAINTEXT.replace("not ", "")
    forged: list[dict[str, object]] = [
        {"said": altered},
        {"said": PLAINTEXT.replace("picture", "other")},
        {"said": PLAINTEXT + " "},
        {"key": text(os.urandom(32))},
        {"said": altered, "key": text(os.urandom(32))},
        {"tag": text(os.urandom(32))},
        {"member_id": scene.ben.person.id},
        {"member_id": scene.server.owner.id},
        {"sent_at_ms": scene.entry["sent_at_ms"] + 1},
    ]
    for changes in forged:
        status, answer = await scene.report(scene.ben, scene.proof(**changes))
        assert (status, answer["error"]) == (403, "not_proved"), changes
    assert await scene.reports() == []


async def test_a_message_from_one_conversation_cannot_be_reported_in_another(scene: Scene) -> None:
    other = await scene.ben.open(scene.ada, await scene.server.client("Cleo"))
    status, answer = await scene.ben.person.ask("POST", path(other, "reports"), scene.proof())
    assert (status, answer["error"]) == (403, "not_proved")


async def test_a_franking_tag_proves_only_its_own_message(scene: Scene) -> None:
    _, again = await sent(scene.ada, scene.conversation, os.urandom(32))
    status, answer = await scene.report(scene.ben, scene.proof(tag=again["tag"]))
    assert (status, answer["error"]) == (403, "not_proved")


async def test_outsiders_cannot_report_a_conversation(scene: Scene) -> None:
    stranger = await scene.server.client("Mallory")
    status, answer = await scene.report(stranger, scene.proof())
    assert (status, answer["error"]) == (404, "unknown_conversation")


async def test_invalid_content_is_rejected_before_it_is_stored(scene: Scene) -> None:
    for plaintext in ("no JSON", "{}", "[]", '["a", 1]', '["\\ud800"]', "[" * 20_000, json.dumps(["a"] * 12)):
        status, answer = await scene.report(scene.ben, scene.proof(said=plaintext))
        assert (status, answer["error"]) == (400, "invalid_request"), plaintext[:20]
    for changes in ({"key": text(b"short")}, {"tag": "?"}, {"text": ""}):
        status, _ = await scene.report(scene.ben, scene.proof(**changes))
        assert status == 400, changes


async def test_a_message_without_a_valid_commitment_is_rejected(scene: Scene) -> None:
    body = private_message(scene.conversation["id"], 1, APPLICATION)
    status, answer = await scene.ada.send(scene.conversation, 1, body, os.urandom(32))
    assert (status, answer["error"]) == (400, "invalid_request")
    for commitment in ({}, {"commitment": text(b"short")}):
        wanted = {"message": text(body), **commitment}
        status, _ = await scene.ada.person.ask("POST", path(scene.conversation, "messages"), wanted)
        assert status == 400


async def test_the_server_stores_nothing_about_the_content_of_a_message_unless_it_is_reported(
    scene: Scene,
) -> None:
    commitment = committed(scene.key, PLAINTEXT)
    kept = scene.server.bytes_on_disk()
    assert hashlib.sha256(commitment).digest() in scene.body
    # Anyone with the commitment and the server's key could try all members until the tag matches.
    assert commitment not in kept and scene.key not in kept
    assert b"not welcome" not in kept


async def test_a_message_can_be_reported_after_its_log_entry_has_expired(
    scene: Scene,
) -> None:
    server = scene.server
    key = (server.data / "franking-key").read_text()
    assert len(bytes.fromhex(key)) == 32
    assert (server.data / "franking-key").stat().st_mode & 0o077 == 0
    sweep = server.community.private.sweep
    sweep._now = lambda: time.time() + 31 * 24 * 60 * 60
    assert await sweep.run_once() > 0
    status, answer = await scene.report(scene.ben, scene.proof())
    assert status == 201, answer


async def test_a_report_outlives_its_author(scene: Scene) -> None:
    await scene.server.owner.done("POST", f"/api/members/{scene.ada.person.id}/kick", {})
    status, answer = await scene.report(scene.ben, scene.proof())
    assert status == 201, answer
