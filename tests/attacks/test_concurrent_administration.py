"""Concurrent administrative actions have the same result as if they had run one at a time, in some order.

Each case starts a real server with a copy of the same database and sends requests over HTTP. The responses
and the final state must match those of one sequential order.
"""

import asyncio
import dataclasses
import itertools
import json
import random
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from svc.base.control_socket import ask as ask_operator
from svc.base.database import connect
from svc.chat import app
from svc.chat.access.directory import Member
from svc.chat.access.permissions import OWNER
from svc.chat.channels.rules import load_channels
from svc.chat.community import DATABASE_NAME, Community
from svc.chat.members import store as members_store
from svc.chat.webhooks.rules import WEBHOOKS
from svc.cli import main
from svc.tools.doctor.data_folder import diagnose
from tests.chat.chat_server import ChatServer, chat_server
from tests.chat.http_member import HttpMember, newcomer
from tests.kit.account_statements import Account, digest_of, elsewhere, pair
from tests.kit.device import Device

SEED = 13
PAIRS, TRIPLES = 20, 4
MANY = pytest.mark.nightly("hundreds of cases; two dozen run daily")
VARIABLES = {
    "PORT": "0",
    "JWT_SECRET": "a secret of at least thirty-two bytes",
    "SVC_IDENTITY_TIERS": "account, local",
    "SERVER_NAME": "Tests",
    "DISABLE_STUN": "true",
    "STORAGE_BACKEND": "filesystem",
    # one more than the community has at the start
    "MAX_MEMBERS": "7",
}

StatusAndError = tuple[int, str]
Outcome = tuple[tuple[StatusAndError, ...], tuple[str, ...]]


@dataclass
class Scene:
    """The community at the start of every case. `names` maps placeholders in actions to ids and codes."""

    folder: Path
    people: dict[str, HttpMember] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def filled_in(self, text: str) -> str:
        return re.sub(r"\$(\w+)", lambda match: self.names[match[1]], text)


@dataclass
class Run:
    """A server that runs on a copy of the community."""

    scene: Scene
    folder: Path
    chat: ChatServer
    community: Community
    # Set when all actions except the late ones have finished. Sequential runs delay no action.
    others_done: asyncio.Event | None = None

    async def ask(self, who: str, method: str, path: str, body: object, late: bool) -> StatusAndError:
        headers = {"Content-Type": "application/json"}
        if who:
            headers["Authorization"] = f"Bearer {self.scene.people[who].token}"
        sent = self.scene.filled_in(json.dumps(body or {})).encode()
        data = self._held_back(sent) if late and self.others_done else sent
        path = self.scene.filled_in(path)
        async with self.chat.http.request(method, path, data=data, headers=headers) as response:
            is_json = response.content_type == "application/json"
            answer = await response.json() if is_json else {}
            return response.status, str(answer.get("error", ""))

    async def join(self, nickname: str, invite: str) -> StatusAndError:
        proof = await Device().proof(self.chat.http, self.chat.address)
        fields = {"nickname": nickname, "invite_code": self.scene.filled_in(invite)}
        async with self.chat.http.post("/api/auth/join", json=proof | fields) as response:
            return response.status, str((await response.json()).get("error", ""))

    async def operate(self, command: str, arguments: dict[str, str]) -> StatusAndError:
        filled_in = {name: self.scene.filled_in(value) for name, value in arguments.items()}
        answer = await ask_operator(self.folder, command, filled_in)
        return 0, str(answer.get("error", ""))

    async def _held_back(self, body: bytes) -> AsyncIterator[bytes]:
        yield b" "
        assert self.others_done is not None
        async with asyncio.timeout(30):
            await self.others_done.wait()
        yield body


@dataclass(frozen=True)
class Act:
    what: str
    do: Callable[[Run], Awaitable[StatusAndError]]
    # A late request starts together with the other actions, but completes its body only after they have
    # finished.
    late: bool = False


def http(who: str, method: str, path: str, body: object = None, *, late: bool = False) -> Act:
    what = f"{who or 'anybody'}: {method} {path} {body or ''}{' late' if late else ''}"
    return Act(what, lambda run: run.ask(who, method, path, body, late), late)


def joining(nickname: str, invite: str = "") -> Act:
    return Act(f"{nickname} joins by {invite}", lambda run: run.join(nickname, invite))


def operator(command: str, **arguments: str) -> Act:
    return Act(f"operator: {command} {arguments}", lambda run: run.operate(command, arguments))


EVE_ROLES, MO_ROLES, MAX_ROLES = (f"/api/members/${name}/roles/" for name in ("Eve", "Mo", "Max"))
PLANS, HELPER = "/api/channels/$plans", "/api/roles/$helper"
CREW = {"name": "Crew", "rank": 700, "permissions": ["ban_members"]}
NOT_FOR_MEMBERS = {"deny": ["view_channel"]}
RULE, NO_LINKS = "/api/automod/rules/$rule", {"name": "Links", "kind": "links", "action": "flag"}
ACTS: Sequence[Act] = (
    # Ownership
    http("Olga", "POST", "/api/members/$Ada/owner"),
    http("Olga", "POST", "/api/members/$Eve/owner", late=True),
    operator("member_owner", member="$Mo"),
    # Joining and leaving
    *(http(name, "POST", "/api/me/leave") for name in ("Ada", "Eve", "Olga", "Max")),
    http("Eve", "DELETE", "/api/me"),
    joining("New", "$invite"),
    joining("Newer", "$invite"),
    joining("Guest", "$guest_invite"),
    joining("Passer-by"),
    # Sanctions
    http("Olga", "POST", "/api/members/$Ada/kick"),
    http("Ada", "POST", "/api/members/$Mo/kick"),
    http("Mo", "POST", "/api/members/$Eve/kick", late=True),
    http("Olga", "PUT", "/api/bans/$Ada"),
    http("Ada", "PUT", "/api/bans/$Mo"),
    http("Mo", "PUT", "/api/bans/$Eve", late=True),
    http("Mo", "DELETE", "/api/bans/$Eve"),
    http("Mo", "PUT", "/api/bans/$Eve", {"delete_messages_s": 3600}, late=True),
    operator("member_kick", member="$Ada"),
    http("Ada", "PUT", "/api/members/$Mo/timeout", {"duration_s": 600}),
    http("Mo", "PUT", "/api/members/$Eve/timeout", {"duration_s": 600}, late=True),
    http("Mo", "PATCH", "/api/members/$Eve", {"nickname": "Evelyn"}, late=True),
    http("Mo", "DELETE", "/api/members/$Eve/linked-accounts/$link", late=True),
    http("Eve", "PUT", f"/api/me/account-confirmations/{digest_of('a statement')}", late=True),
    # Roles and ranks
    http("Olga", "PUT", EVE_ROLES + "admin"),
    http("Ada", "PUT", EVE_ROLES + "moderator"),
    http("Ada", "PUT", EVE_ROLES + "$helper"),
    http("Olga", "DELETE", "/api/members/$Ada/roles/admin"),
    http("Ada", "DELETE", MO_ROLES + "moderator"),
    http("Ada", "DELETE", MAX_ROLES + "$helper"),
    operator("member_role", member="$Mo", role="admin"),
    http(
        "Ada", "POST", "/api/roles", {"name": "Crew", "rank": 700, "permissions": ["ban_members"]}, late=True
    ),
    http("Olga", "PATCH", HELPER, {"rank": 900}),
    http("Ada", "PATCH", HELPER, {"name": "Hand", "permissions": ["manage_channels"]}, late=True),
    http("Ada", "PUT", "/api/roles/order", {"ranks": {"$helper": 600, "moderator": 550}}, late=True),
    http("Ada", "DELETE", HELPER),
    http("Olga", "PATCH", "/api/roles/moderator", {"permissions": ["view_channel", "send_messages"]}),
    http("Olga", "PATCH", "/api/roles/admin", {"permissions": ["view_channel", "manage_roles"]}),
    # Channels
    http("Ada", "POST", "/api/channels", {"name": "den", "type": "text"}, late=True),
    http("Ada", "PATCH", PLANS, {"topic": "secret"}, late=True),
    http("Abe", "DELETE", PLANS),
    http("Ada", "POST", "/api/channels", {"name": "games", "type": "category"}),
    http("Ada", "PATCH", PLANS, {"archived": True}),
    operator("channel_edit", channel="$plans", topic="operated"),
    operator("channel_delete", channel="$plans"),
    http("Ada", "PUT", PLANS + "/overrides/role/member", NOT_FOR_MEMBERS),
    http("Ada", "PUT", PLANS + "/overrides/role/$helper", {"allow": ["manage_webhooks"]}, late=True),
    http("Abe", "PUT", PLANS + "/overrides/member/$Eve", NOT_FOR_MEMBERS),
    # Messages in channels
    http("Eve", "POST", PLANS + "/messages", {"text": "hello"}),
    http("Eve", "PATCH", PLANS + "/messages/$message", {"text": "better"}, late=True),
    http("Mo", "DELETE", PLANS + "/messages/$message"),
    http("Mo", "PUT", PLANS + "/pins/$message"),
    http("Max", "PUT", PLANS + "/messages/$message/reactions/%F0%9F%91%8D"),
    http("Eve", "PUT", PLANS + "/draft", {"text": "well", "attachments": []}, late=True),
    http("Max", "POST", "/api/reports", {"channel_id": "$plans", "message_id": "$message", "text": "bad"}),
    http("Max", "POST", "/api/reports", {"member_id": "$Eve", "text": "bad"}, late=True),
    http("Ada", "POST", "/api/reports/$report/resolve", {"note": "talked"}),
    http("Mo", "POST", "/api/reports/$report/resolve", {"note": "warned"}, late=True),
    # The same actions by another moderator
    http("Abe", "PUT", "/api/bans/$Eve", {"reason": "spam"}),
    http("Ada", "POST", "/api/members/$Eve/kick"),
    http("Abe", "PUT", "/api/members/$Eve/timeout", {"duration_s": 60}),
    http("Ada", "DELETE", PLANS + "/messages/$message"),
    http("Ada", "POST", "/api/applications/$application/approve"),
    http("Abe", "POST", "/api/applications/$application/approve"),
    http("Olga", "POST", "/api/applications/$application/refuse", {"reason": "full"}, late=True),
    http("Ada", "PUT", RULE, {**NO_LINKS, "name": "Changed"}),
    http("Abe", "DELETE", RULE),
    # Bots, webhooks and invites
    http("Ada", "POST", "/api/bots", {"nickname": "Helper"}, late=True),
    http("Ada", "POST", "/api/webhooks", {"name": "another", "channel_id": "$plans"}, late=True),
    http("Ada", "PATCH", "/api/webhooks/$hook", {"name": "renamed"}, late=True),
    http("Abe", "PATCH", "/api/webhooks/$hook", {"channel_id": "general"}, late=True),
    http("Abe", "DELETE", "/api/webhooks/$hook"),
    http("", "POST", "/api/webhooks/$hook/$token", {"text": "posted"}),
    http("Mo", "POST", "/api/invites", {"role_id": "member"}, late=True),
    http("Mo", "DELETE", "/api/invites/$invite_id"),
    http("Mo", "POST", "/api/invites", {"channel_id": "$plans", "approval": True}, late=True),
    http("Ada", "DELETE", "/api/invites/$guest_invite_id"),
    # Server settings and devices
    http("Olga", "PATCH", "/api/settings", {"joinPolicy": "open"}),
    http("Olga", "PATCH", "/api/settings", {"welcomeChannelId": "$plans", "name": "Named"}),
    http("Olga", "PATCH", "/api/settings", {"profanityMode": "block"}, late=True),
    http("Olga", "POST", "/api/members/$Eve/recovery", late=True),
    http("Eve", "PUT", "/api/me/blocks/$Max"),
)
# Pairs of actions that once left a server without an owner, and other error-prone pairs.
KNOWN: Sequence[tuple[str, ...]] = (
    ("/$Ada/owner", "Ada: POST /api/me/leave"),
    ("/$Ada/owner", "/$Ada/kick"),
    ("/$Ada/owner", "PUT /api/bans/$Ada"),
    ("/$Ada/owner", "operator: member_kick"),
    ("/$Ada/owner", "operator: member_owner"),
    ("/$Ada/owner", "Olga: POST /api/me/leave"),
    ("/$Ada/owner", "PATCH /api/settings {'joinPolicy'"),
    ("New joins", "Newer joins", "/$invite_id"),
    ("/$Ada/kick", "POST /api/roles"),
    ("/$Ada/roles/admin", "/$Mo/kick", "POST /api/roles"),
    ("Abe: DELETE /api/channels", "POST /api/webhooks/$hook/", "renamed"),
    ("account-confirmations", "Eve: POST /api/me/leave"),
    ("linked-accounts", "Ada: DELETE /api/members/$Mo/roles"),
    ("'hello'", "Abe: DELETE /api/channels", "Eve: POST /api/me/leave"),
    # Two moderators perform the same action.
    ("'talked'", "'warned'"),
    ("'spam'", "Mo: PUT /api/bans/$Eve {'delete_messages_s'"),
    ("'spam'", "Ada: POST /api/members/$Eve/kick"),
    ("Ada: POST /api/members/$Eve/kick", "Mo: POST /api/members/$Eve/kick"),
    ("'duration_s': 60}", "Mo: PUT /api/members/$Eve/timeout"),
    ("Ada: PUT /api/automod", "Abe: DELETE /api/automod"),
    ("Ada: DELETE /api/channels/$plans/messages", "Mo: DELETE /api/channels/$plans/messages"),
    ("Ada: POST /api/applications", "Abe: POST /api/applications", "Olga: POST /api/applications"),
)


async def prepared(folder: Path) -> Scene:
    scene = Scene(folder)
    names = scene.names
    async with chat_server(VARIABLES | {"DATA_DIR": str(folder)}) as chat:
        for name in ("Olga", "Ada", "Abe", "Mo", "Eve", "Max"):
            scene.people[name] = await newcomer(chat, name)
            names[name] = scene.people[name].id
        olga, mo = scene.people["Olga"], scene.people["Mo"]
        helper = {"name": "Helper", "rank": 300, "permissions": ["manage_messages"]}
        names["helper"] = (await olga.done("POST", "/api/roles", helper))["id"]
        held = {"Ada": "admin", "Abe": "admin", "Mo": "moderator", "Max": names["helper"]}
        for name, role_id in held.items():
            await olga.done("PUT", f"/api/members/{names[name]}/roles/{role_id}")
        plans = await olga.done("POST", "/api/channels", {"name": "plans", "type": "text"})
        names["plans"] = plans["id"]
        names["rule"] = (await olga.done("POST", "/api/automod/rules", NO_LINKS))["id"]
        path = f"/api/channels/{names['plans']}/messages"
        names["message"] = (await scene.people["Eve"].done("POST", path, {"text": "a word"}))["id"]
        hook = await olga.done("POST", "/api/webhooks", {"name": "hook", "channel_id": names["plans"]})
        names |= {"hook": hook["id"], "token": hook["token"]}
        invite = await mo.done("POST", "/api/invites", {"role_id": "member", "max_uses": 1})
        names |= {"invite": invite["code"], "invite_id": invite["id"]}
        invite = await olga.done("POST", "/api/invites", {"role_id": names["helper"]})
        names |= {"guest_invite": invite["code"], "guest_invite_id": invite["id"]}
        account = Account(chat.address, names["Eve"], scene.people["Eve"].device)
        link = await scene.people["Eve"].done("POST", "/api/me/linked-accounts", pair(account, elsewhere()))
        names["link"] = link["id"]
        report = {"member_id": names["Eve"], "text": "shouts"}
        names["report"] = (await scene.people["Max"].done("POST", "/api/reports", report))["id"]
        invite = await olga.done("POST", "/api/invites", {"approval": True})
        proof = await Device().proof(chat.http, chat.address)
        body = proof | {"nickname": "Wanda", "invite_code": invite["code"]}
        async with chat.http.post("/api/auth/join", json=body) as response:
            assert (await response.json())["error"] == "approval_pending"
        names["application"] = (await olga.done("GET", "/api/applications"))["applications"][0]["id"]
    return scene


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return asyncio.run(prepared(tmp_path_factory.mktemp("scene") / "data"))


@asynccontextmanager
async def running(scene: Scene, folder: Path) -> AsyncIterator[Run]:
    shutil.copytree(scene.folder, folder)
    built: list[Community] = []

    class Seen(Community):
        def __init__(self, *arguments: Any, **kwargs: Any) -> None:
            super().__init__(*arguments, **kwargs)
            built.append(self)

    with patch.object(app, "Community", Seen):
        async with chat_server(VARIABLES | {"DATA_DIR": str(folder)}) as chat:
            yield Run(scene, folder, chat, built[0])
    shutil.rmtree(folder)


async def at_once(scene: Scene, folder: Path, acts: Sequence[Act]) -> Outcome:
    async with running(scene, folder) as run:
        run.others_done = asyncio.Event()
        doing = [asyncio.ensure_future(act.do(run)) for act in acts]
        if prompt := [task for task, act in zip(doing, acts, strict=True) if not act.late]:
            await asyncio.wait(prompt)
        run.others_done.set()
        answers = await asyncio.gather(*doing)
        await memory_agrees_with_the_file(run.community)
        return tuple(answers), await afterwards(run)


async def in_turn(scene: Scene, folder: Path, acts: Sequence[Act], order: Sequence[int]) -> Outcome:
    async with running(scene, folder) as run:
        answers = {number: await acts[number].do(run) for number in order}
        return tuple(answers[number] for number in range(len(acts))), await afterwards(run)


async def memory_agrees_with_the_file(community: Community) -> None:
    database, directory = community.audit._database, community.directory
    kept = await members_store.load_members(database, lambda key: None)
    # The database stores times in ms.
    assert {m.id: _in_ms(m) for m in directory.members.values()} == {m.id: _in_ms(m) for m in kept}
    roles = {role.id: role for role in await members_store.ROLES.all(database)}
    assert {role_id: directory.roles.get(role_id) for role_id in roles} == roles
    channels = {channel.id: channel for channel in await load_channels(database)}
    assert directory.channels == channels
    webhooks = {webhook.id: webhook for webhook in await WEBHOOKS.all(database)}
    assert community.messaging.webhooks._by_id == webhooks
    [owner] = [member for member in directory.members.values() if OWNER in member.role_ids]
    assert owner


def _in_ms(member: Member) -> Member:
    return dataclasses.replace(member, timeout_until=int(member.timeout_until * 1000))


# The final state, without times and ids, which differ between runs.
TABLES = (
    "SELECT id, nickname, epoch, timeout_until_ms > 0, left_at_ms IS NULL FROM members",
    "SELECT * FROM member_roles",
    "SELECT * FROM roles",
    "SELECT name, kind, position, topic, slow_mode_s FROM channels",
    "SELECT * FROM channel_overrides",
    "SELECT member_id, banned_by FROM bans",
    "SELECT reporter_id, member_id, channel_id, text, resolved_by FROM reports",
    "SELECT created_by, role_id, max_uses, uses FROM invites",
    "SELECT nickname, state, reason, decided_by FROM applications",
    "SELECT name, channel_id, picture, created_by FROM webhooks",
    "SELECT * FROM settings",
    "SELECT wanted FROM automod_rules",
    "SELECT kind, member_id FROM link_codes",
    "SELECT member_id, blocked_id FROM blocks",
    "SELECT member_id, origin FROM linked_accounts",
    "SELECT member_id, digest FROM account_confirmations",
    "SELECT member_id, channel_id, text FROM drafts",
    "SELECT author_id, channel_id, text, mentions FROM messages JOIN channels ON channels.id = channel_id",
    "SELECT member_id, emoji FROM reactions JOIN messages USING (n) JOIN channels c ON c.id = channel_id",
    "SELECT pins.member_id, pins.channel_id FROM pins JOIN channels ON channels.id = pins.channel_id",
    "SELECT actor_id, action, target_id, channel_id FROM audit_log",
)


async def afterwards(run: Run) -> tuple[str, ...]:
    async with asyncio.timeout(30):
        # A member's data is deleted in several steps.
        while True:
            if not await run.community.audit._database.rows("SELECT 1 FROM erasures"):
                break
            await asyncio.sleep(0)
    known = {value: name for name, value in run.scene.names.items()}
    # The ids of members who joined during the run differ between runs.
    for row in await run.community.audit._database.rows("SELECT id, nickname FROM members"):
        known.setdefault(row["id"], row["nickname"])
    for row in await run.community.audit._database.rows("SELECT id, name FROM roles"):
        known.setdefault(row["id"], row["name"])
    faults = []
    for table in TABLES:
        for row in await run.community.audit._database.rows(table):
            values = [known.get(value, _without_id(value)) for value in tuple(row)]
            faults.append(f"{table.rpartition(' FROM ')[2].split()[0]} {values}")
    return tuple(sorted(faults))


def _without_id(value: object) -> object:
    is_new = isinstance(value, str) and re.fullmatch(r"[0-9a-f-]{36}", value)
    return "new" if is_new else value


async def check_serialisable(scene: Scene, folder: Path, acts: Sequence[Act]) -> None:
    outcome = await at_once(scene, folder / "at-once", acts)
    possible = []
    for order in itertools.permutations(range(len(acts))):
        possible.append(await in_turn(scene, folder / "in-turn", acts, order))
        if outcome == possible[-1]:
            return
    summaries = "\n".join(act.what for act in acts)
    closest = min(possible, key=lambda pair: len({*pair[1]} ^ {*outcome[1]}))
    different = sorted({*closest[1]} ^ {*outcome[1]})
    orders = "\n".join(str(pair[0]) for pair in possible)
    pytest.fail(f"{summaries}\nat once: {outcome[0]}\none by one:\n{orders}\ndifferent at least: {different}")


def act_like(fragment: str) -> Act:
    [act] = [act for act in ACTS if fragment in act.what]
    return act


@pytest.mark.timeout(120)
@pytest.mark.parametrize("fragments", KNOWN, ids=" + ".join)
async def test_concurrent_actions_that_once_conflicted_have_a_serial_order(
    scene: Scene, tmp_path: Path, fragments: tuple[str, ...]
) -> None:
    await check_serialisable(scene, tmp_path, [act_like(fragment) for fragment in fragments])


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("count", "cases"),
    [
        pytest.param(2, PAIRS, id="pairs"),
        pytest.param(3, TRIPLES, id="triples"),
        pytest.param(2, 10 * PAIRS, marks=MANY, id="many pairs"),
        pytest.param(3, 10 * TRIPLES, marks=MANY, id="many triples"),
    ],
)
async def test_all_concurrent_actions_have_a_serial_order(
    scene: Scene, tmp_path: Path, count: int, cases: int
) -> None:
    chance = random.Random(SEED + count)
    for _ in range(cases):
        await check_serialisable(scene, tmp_path, chance.sample(ACTS, count))


@pytest.mark.parametrize("state", ["running", "stopped"])
async def test_a_server_without_an_owner_reports_this_and_can_be_given_one(
    scene: Scene, tmp_path: Path, state: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(scene.folder, folder)
    with closing(connect(folder / DATABASE_NAME)) as connection:
        connection.execute("DELETE FROM member_roles WHERE role_id = 'owner'")
    async with AsyncExitStack() as stack:
        if state == "running":
            await stack.enter_async_context(chat_server(VARIABLES | {"DATA_DIR": str(folder)}))
            assert "this server has no owner" in caplog.text
        assert owner_problems(folder) == ["This server has 6 members and no owner"]
        words = ["admin", "member", "owner", "Mo", "--data-dir", str(folder)]
        assert await asyncio.to_thread(main, words) == 0
        assert owner_problems(folder) == []


def owner_problems(folder: Path) -> list[str]:
    return [finding.what for finding in diagnose(folder) if "no owner" in finding.what]
