"""Every administrative action writes an audit log entry, and fails if the entry cannot be written."""

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from svc.base.database import Connection
from svc.chat.access.endpoint_permissions import ENDPOINTS, EVENTS, Audience, Requirement
from svc.chat.access.permissions import Permission as P
from tests.chat.fake_sfu import FakeSfu
from tests.chat.internal_server import server_with_insight
from tests.chat.live_member import LiveMember
from tests.chat.members_by_role import members_by_role
from tests.chat.uploads.upload_helpers import UploadServer
from tests.kit.account_statements import Account, elsewhere, pair
from tests.kit.device import Device
from tests.kit.pictures import encoded, scene

# Permissions for ordinary actions, which do not administer other members.
OF_MEMBERS = P.VIEW_CHANNEL | P.SEND_MESSAGES | P.ATTACH_FILES | P.ADD_REACTIONS | P.JOIN_VOICE
# Requests that members mostly send about themselves or their own messages, but that may also concern others.
ABOUT_OTHERS = {
    "PATCH /api/members/{member_id}",
    "PUT /api/members/{member_id}/status",
    "DELETE /api/members/{member_id}/linked-accounts/{link_id}",
    "DELETE /api/channels/{channel_id}/messages/{message_id}",
    "DELETE /api/channels/{channel_id}/messages/{message_id}/previews",
    "DELETE /api/invites/{invite_id}",
    "message_delete",
    "previews_remove",
}
# These are not administrative actions: retrying a job, lowering a hand, and uploading an image before the
# worker has processed it (see `prepare`).
NO_ACTS = {
    *("POST /api/jobs/{job_id}/retry", "voice_lower_hand"),
    *("POST /api/icon", "POST /api/emoji"),
}
READING = ("GET ", "settings_get")
# The test does not compare these tables: SQLite's own tables, the search index, the audit log and stored
# images.
IN_THE_DARK = r"sqlite_|message_words|message_vocabulary|indexed|audit_log|(objects|kept)$"

CHANNELS = ["lobby", "general", "{side_room}"]
WORDS = {"name": "No", "kind": "words", "action": "flag", "words": ["casino"]}
MESSAGE = "/api/channels/{channel_id}/messages/{message_id}"
PIN, OVERRIDE = "/api/channels/{channel_id}/pins/{message_id}", "/api/channels/{channel_id}/overrides"
# Each request with its body and the action of its log entry. Requests come after those that create the
# objects they need.
ACTS: list[tuple[str, object, str]] = [
    ("PATCH /api/settings", {"name": "Named"}, "settings_change"),
    ("settings_change", {"joinPolicy": "open"}, "settings_change"),
    ("PATCH /api/members/{member_id}", {"nickname": "Renamed"}, "member_rename"),
    ("PUT /api/members/{member_id}/status", {"text": ""}, "member_status_clear"),
    ("DELETE /api/members/{member_id}/linked-accounts/{link_id}", None, "member_link_remove"),
    ("POST /api/members/{member_id}/recovery", {}, "recovery_create"),
    ("POST /api/roles", {"name": "Crew", "permissions": []}, "role_create"),
    ("PATCH /api/roles/{role_id}", {"name": "Team"}, "role_edit"),
    ("PUT /api/roles/order", {"ranks": {"{role_id}": 555}}, "role_move"),
    ("PUT /api/members/{member_id}/roles/{role_id}", {}, "member_role_give"),
    ("DELETE /api/members/{member_id}/roles/{role_id}", None, "member_role_take"),
    ("DELETE /api/roles/{role_id}", None, "role_delete"),
    ("POST /api/channels", {"name": "den", "type": "text"}, "channel_create"),
    ("PATCH /api/channels/{channel_id}", {"topic": "What we do"}, "channel_edit"),
    ("PUT /api/channels/order", {"channel_ids": ["{channel_id}", *CHANNELS]}, "channel_move"),
    (f"PUT {OVERRIDE}/{{type}}/{{target_id}}", {"deny": ["send_messages"]}, "channel_override"),
    (f"DELETE {OVERRIDE}/{{type}}/{{target_id}}", None, "channel_override"),
    ("PUT " + PIN, {}, "pin_add"),
    ("DELETE " + PIN, None, "pin_remove"),
    ("pin_add", {"channel_id": "{channel_id}", "message_id": "{message_id}"}, "pin_add"),
    ("pin_remove", {"channel_id": "{channel_id}", "message_id": "{message_id}"}, "pin_remove"),
    (f"DELETE {MESSAGE}/previews", None, "previews_remove"),
    ("previews_remove", {"channel_id": "{channel_id}", "message_id": "{message_id}"}, "previews_remove"),
    ("DELETE " + MESSAGE, None, "message_delete"),
    ("message_delete", {"channel_id": "{channel_id}", "message_id": "{another_message}"}, "message_delete"),
    ("POST /api/automod/rules", WORDS, "rule_create"),
    ("POST /api/automod/trial", WORDS, "rule_trial"),
    ("PUT /api/automod/rules/{rule_id}", {**WORDS, "enabled": True}, "rule_edit"),
    ("DELETE /api/automod/rules/{rule_id}", None, "rule_delete"),
    ("POST /api/webhooks", {"name": "Hook", "channel_id": "{channel_id}"}, "webhook_create"),
    ("PATCH /api/webhooks/{webhook_id}", {"name": "Builds"}, "webhook_edit"),
    ("PUT /api/webhooks/{webhook_id}/picture", encoded(scene(64, 64), "PNG"), "webhook_edit"),
    ("DELETE /api/webhooks/{webhook_id}/picture", None, "webhook_edit"),
    ("DELETE /api/webhooks/{webhook_id}", None, "webhook_delete"),
    ("POST /api/invites", {}, "invite_create"),
    ("DELETE /api/invites/{invite_id}", None, "invite_revoke"),
    ("POST /api/applications/{application_id}/refuse", {"reason": "Full"}, "application_refuse"),
    ("POST /api/applications/{application_id}/approve", {}, "application_approve"),
    ("POST /api/bots", {"nickname": "Robot"}, "bot_create"),
    ("POST /api/bots/{bot_id}/token", {}, "bot_token"),
    ("DELETE /api/bots/{bot_id}", None, "bot_delete"),
    ("POST /api/reports/{report_id}/resolve", {}, "report_resolve"),
    ("voice_mute", {"member_id": "{member_id}", "muted": True, "deafened": False}, "voice_mute"),
    ("voice_stop_screen", {"member_id": "{member_id}"}, "voice_stop_screen"),
    ("voice_move", {"member_id": "{member_id}", "channel_id": "{side_room}"}, "voice_move"),
    ("voice_disconnect", {"member_id": "{member_id}"}, "voice_disconnect"),
    ("PUT /api/members/{member_id}/timeout", {"duration_s": 60}, "member_timeout"),
    ("DELETE /api/members/{member_id}/timeout", None, "member_timeout_end"),
    ("POST /api/members/{member_id}/kick", {}, "member_kick"),
    ("PUT /api/bans/{member_id}", {}, "member_ban"),
    ("DELETE /api/bans/{member_id}", None, "member_unban"),
    ("DELETE /api/channels/{channel_id}", None, "channel_delete"),
    ("DELETE /api/icon", None, "icon_remove"),
    ("PATCH /api/emoji/{emoji_id}", {"name": "tabby"}, "emoji_rename"),
    ("DELETE /api/emoji/{emoji_id}", None, "emoji_delete"),
    ("POST /api/backups", {}, "backup_create"),
    ("POST /api/backups/{name}/link", {}, "backup_download"),
    ("DELETE /api/backups/{name}", None, "backup_delete"),
    # This action is last, because it removes the owner.
    ("POST /api/members/{heir}/owner", {}, "owner_transfer"),
]
# The placeholder for the id of the object that each of these requests creates.
MADE = {
    "POST /api/roles": "role_id",
    "POST /api/channels": "channel_id",
    "POST /api/automod/rules": "rule_id",
    "POST /api/webhooks": "webhook_id",
    "POST /api/invites": "invite_id",
    "POST /api/bots": "bot_id",
}


def address(what: str) -> str:
    """Return the request as in `ENDPOINTS`, where all members have the same placeholder."""
    return re.sub(r"\{(bot_id|heir)\}", "{member_id}", what)


def is_administrative(what: str, needs: Requirement) -> bool:
    if what.startswith(READING) or what in NO_ACTS:
        return False
    ordinary = needs.permission is None or needs.permission in OF_MEMBERS
    return needs.who is Audience.OWNER or not ordinary or what in ABOUT_OTHERS


@dataclass
class Scene:
    """A community with a target for every action. `names` maps placeholders to values."""

    server: UploadServer
    page: LiveMember
    names: dict[str, str] = field(default_factory=dict)

    def filled_in(self, text: str) -> str:
        for name, value in self.names.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    async def ask(self, what: str, body: object) -> tuple[bool, Any]:
        """Send a request as the owner. Return a pair: whether it succeeded, and the response."""
        if isinstance(body, bytes):
            return await self.sent(what, body)
        sent = None if body is None else json.loads(self.filled_in(json.dumps(body)))
        if " " not in what:
            reply = await self.page.ask(what, **(sent or {}))
            return reply["event"] != "error", reply["data"]
        method, path = what.split(" ")
        status, answer = await self.server.members.owner.ask(method, self.filled_in(path), sent)
        return status < 300, answer

    async def sent(self, what: str, body: bytes) -> tuple[bool, Any]:
        """Upload a file as the owner. Return a pair: whether the upload succeeded, and the response."""
        method, path = what.split(" ")
        headers = {"Authorization": f"Bearer {self.server.members.owner.token}"}
        async with self.server.chat.http.request(
            method, self.filled_in(path), data=body, headers=headers
        ) as answer:
            return answer.status < 300, await answer.json()

    async def finished(self, job: dict[str, object]) -> tuple[bool, Any]:
        """Finish a job as the media worker would."""
        answer = await self.server.command("job_finish", **job)
        return answer == {}, answer

    async def kept(self) -> list[str]:
        """Return all rows of the tables that are compared."""
        database = self.server.community.audit._database
        tables = await database.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
        names = [row["name"] for row in tables if not re.match(IN_THE_DARK, row["name"])]
        rows = [
            f"{name} {tuple(row)}" for name in names for row in await database.rows(f"SELECT * FROM {name}")
        ]
        # Leave out the fact that the search index contains deleted words, because a background merge changes
        # it.
        return [row for row in rows if not row.startswith("facts ('words_deleted'")]

    async def newest(self) -> dict[str, Any]:
        entries = (await self.server.members.owner.done("GET", "/api/audit?limit=1"))["entries"]
        return dict(entries[0]) if entries else {"id": 0}

    @asynccontextmanager
    async def without_a_log(self) -> AsyncIterator[None]:
        """Make writes to the audit log fail inside the block."""
        write = self.server.community.audit._database.write
        refusal = "BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'the log takes nothing'); END"
        await write(_running(f"CREATE TRIGGER no_entry {refusal}"))
        yield
        await write(_running("DROP TRIGGER no_entry"))

    async def check_logged(
        self, what: str, do: Callable[[], Awaitable[tuple[bool, Any]]], action: str
    ) -> Any:
        """Check that an action and its log entry are stored together or not at all.

        `do` performs the action. It returns a pair: whether the action succeeded, and the response.
        """
        before, last = await self.kept(), (await self.newest())["id"]
        async with self.without_a_log():
            done, answer = await do()
            assert not done, (what, answer)
        assert await self.kept() == before, what
        done, answer = await do()
        assert done, (what, answer)
        entry = await self.newest()
        assert entry["id"] > last, f"{what} is not logged"
        assert (entry["action"], entry["actor_id"]) == (action, self.server.members.owner.id), what
        return answer


def _running(statement: str) -> Callable[[Connection], None]:
    def write(connection: Connection) -> None:
        connection.execute(statement)

    return write


@pytest.fixture
async def community(variables: dict[str, str], sfu: FakeSfu) -> AsyncIterator[Scene]:
    async with server_with_insight(variables) as (chat, inside):
        members = await members_by_role(chat)
        server = UploadServer(chat, inside, members, variables)
        async with members.live("owner") as [page]:
            scene = Scene(server, page)
            await prepare(scene, sfu)
            yield scene


async def prepare(scene: Scene, sfu: FakeSfu) -> None:
    """Create a report, an applicant, a participant in a call and images."""
    members, server, names = scene.server.members, scene.server, scene.names
    names |= {"member_id": members.member.id, "heir": members.admin.id, "type": "role", "target_id": "guest"}
    [side_room] = [
        channel["id"] for channel in scene.page.welcome["channels"] if channel["name"] == "Side Room"
    ]
    report = await members.guest.done(
        "POST", "/api/reports", {"member_id": members.member.id, "text": "Rude"}
    )
    names |= {"side_room": side_room, "report_id": report["id"]}
    await members.member.done("PUT", f"/api/members/{members.member.id}/status", {"text": "Away"})
    account = Account(server.chat.address, members.member.id, members.member.device)
    link = await members.member.done("POST", "/api/me/linked-accounts", pair(account, elsewhere()))
    names["link_id"] = link["id"]
    invite = await members.owner.done("POST", "/api/invites", {"approval": True})
    proof = await Device().proof(server.chat.http, server.chat.address)
    body = proof | {"nickname": "Waits", "invite_code": invite["code"]}
    async with server.chat.http.post("/api/auth/join", json=body) as response:
        assert (await response.json())["error"] == "approval_pending"
    [waiting] = (await members.owner.done("GET", "/api/applications"))["applications"]
    names["application_id"] = waiting["id"]
    await sfu.until("sync_request")
    await sfu.send_event("peer_joined", "lobby", members.member.id)
    while "Member" not in await scene.page.people("lobby"):
        pass
    for path, action in (("/api/icon", "icon_change"), ("/api/emoji?name=cat", "emoji_create")):
        await server.sent(members.owner, path)
        await scene.check_logged(path, partial(scene.finished, await server.written()), action)
    [emoji] = (await members.owner.done("GET", "/api/emoji"))["emoji"]
    names["emoji_id"] = emoji["id"]


def test_the_table_lists_every_administrative_action_in_the_catalogue() -> None:
    administrative = {
        what for what, needs in {**ENDPOINTS, **EVENTS}.items() if is_administrative(what, needs)
    }
    assert {address(what) for what, _, _ in ACTS} == administrative


async def test_every_administrative_action_writes_its_log_entry_in_the_same_write(community: Scene) -> None:
    for what, body, action in ACTS:
        answer = await community.check_logged(what, partial(community.ask, what, body), action)
        await remember_created(community, what, answer)


async def remember_created(scene: Scene, what: str, made: Any) -> None:
    """Store the ids of created objects under their placeholders."""
    if (name := MADE.get(what)) is not None:
        scene.names[name] = made["member"]["id"] if name == "bot_id" else made["id"]
    if what == "POST /api/channels":
        for name in ("message_id", "another_message"):
            path, body = f"/api/channels/{made['id']}/messages", {"text": f"The {name}"}
            scene.names[name] = (await scene.server.members.member.done("POST", path, body))["id"]
    if what == "POST /api/backups":
        scene.names["name"] = (await scene.page.pushed("backup_finished"))["name"]
