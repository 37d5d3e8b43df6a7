"""Attachments older than the owner's limit are deleted with all their data, but not their messages."""

import io

from PIL import Image

from svc.base.database import Connection
from svc.base.strict_json import dumps
from svc.chat.community import Community
from svc.chat.media.stored_media import MESSAGE, ObjectInfo
from svc.chat.messages.retention import DAY_MS
from tests.chat.http_member import HttpMember
from tests.chat.internal_server import server_with_insight
from tests.chat.members_by_role import members_by_role

GENERAL = "/api/channels/general/messages"
PICTURE = ObjectInfo("image/webp", width=16, height=16)


async def _stored(community: Community) -> str:
    file = io.BytesIO()
    Image.new("RGB", (16, 16), "red").save(file, "WEBP")
    return await community.media.keep(file.getvalue(), "webp", PICTURE)


async def _with_file(community: Community, person: HttpMember, text: str, age_days: int) -> str:
    """Post a message with an image and its thumbnail. Backdate it by the given number of days."""
    message_id = str((await person.done("POST", GENERAL, {"text": text}))["id"])
    key, thumbnail = await _stored(community), await _stored(community)
    facts = {"content_type": "image/webp", "width": 16, "height": 16, "bytes": 10}
    smaller = {"key": thumbnail, **facts, "placeholder": "", "colour": ""}
    file = {**smaller, "key": key, "id": "f", "name": "a.webp", "alt": "", "frames": 1, "duration_ms": None}
    file |= {"thumbnail": smaller, "poster": None}

    def write(connection: Connection) -> None:
        connection.execute(
            "UPDATE messages SET attachments = ? WHERE id = ?", (dumps([file]).decode(), message_id)
        )
        for object_key in (key, thumbnail):
            community.media.refer(connection, object_key, MESSAGE, message_id)
        # Change every column that contains the time of posting, and keep the search index consistent.
        connection.execute(
            "UPDATE messages SET n = n - ((? * ?) << 12) WHERE id = ?", (age_days, DAY_MS, message_id)
        )

    await community.media._database.write(write)
    return message_id


async def _files(community: Community, person: HttpMember) -> dict[str, tuple[int, int]]:
    """Map the text of each message to the number of its files and the number of its expired files."""
    messages = (await person.done("GET", GENERAL))["messages"]
    return {m["text"]: (len(m["attachments"]), m.get("expired_attachments", 0)) for m in messages}


async def _references(community: Community) -> int:
    row = await community.media._database.row("SELECT count(*) AS n FROM object_references")
    assert row is not None
    return int(row["n"])


async def test_old_attachments_are_deleted_and_their_messages_stay(variables: dict[str, str]) -> None:
    async with server_with_insight(variables | {"MESSAGE_CACHE_TTL_MS": "0"}) as (chat, community):
        members = await members_by_role(chat)
        await _with_file(community, members.member, "old", 40)
        await _with_file(community, members.member, "new", 20)
        assert await community.messages.retention.run_once() == 0
        assert await _files(community, members.owner) == {"old": (1, 0), "new": (1, 0)}
        async with members.live("guest") as [guest]:
            await members.owner.done("PATCH", "/api/settings", {"retentionDays": 30})
            event = await guest.pushed("attachments_changed")
            assert (event["attachments"], event["expired_attachments"]) == ([], 1)
        assert await _files(community, members.owner) == {"old": (0, 1), "new": (1, 0)}
        # Nothing refers to the old thumbnail, either, so the sweep deletes it.
        assert await _references(community) == 2
        assert await members.admin.refused("PATCH", "/api/settings", {"retentionDays": 1}) == "forbidden"
