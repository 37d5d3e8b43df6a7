"""The audit log records administrative actions in order, each in the same transaction as the action, and is
read page by page.
"""

import pytest

from svc.base.database import Connection, Database
from svc.chat.access.directory import TEXT, Channel, Directory, Member
from svc.chat.access.permissions import Override, Overrides, Permission
from svc.chat.audit.log import Audit, AuditPage, WantedEntries
from tests.chat.chat_server import ChatServer
from tests.chat.http_member import newcomer

NOW = 1_800_000_000.0


def directory() -> Directory:
    known = Directory(lambda: NOW)
    known.put_member(Member("ada", "Ada", role_ids=("admin",)))
    known.put_member(Member("own", "Owner", role_ids=("owner",)))
    known.put_channel(Channel("open", "open", TEXT))
    hidden = Overrides(members={"ada": Override(deny=Permission.VIEW_CHANNEL)})
    known.put_channel(Channel("secret", "secret", TEXT, overrides=hidden))
    return known


async def record(
    database: Database, audit: Audit, actor: str | None, action: str, target: str, **details: str
) -> None:
    await database.write(
        lambda connection: audit.record(
            connection, actor_id=actor, action=action, target_id=target, details=details, now=NOW
        )
    )


async def test_entries_are_listed_newest_first_without_gaps_between_pages(database: Database) -> None:
    audit = Audit(database, directory())
    for number in range(5):
        await record(database, audit, "ada", f"act_{number}", "bob")
    seen, before = [], None
    for _ in range(3):
        page = await audit.page("ada", WantedEntries(before=before), 2)
        seen.append([entry.action for entry in page.entries])
        before = page.next
    assert seen == [["act_4", "act_3"], ["act_2", "act_1"], ["act_0"]]
    assert before is None


async def test_entries_are_filtered_by_actor_target_and_action(database: Database) -> None:
    audit = Audit(database, directory())
    await record(database, audit, "ada", "kick", "bob")
    await record(database, audit, "eve", "kick", "cyd")
    await record(database, audit, None, "ban", "bob")

    async def actors(**wanted: str) -> list[str | None]:
        page = await audit.page("ada", WantedEntries(**wanted), 10)  # type: ignore[arg-type]
        return [entry.actor_id for entry in page.entries]

    assert await actors(actor_id="ada") == ["ada"]
    assert await actors(target_id="bob") == [None, "ada"]
    assert await actors(action="kick") == ["eve", "ada"]
    assert await actors(action="kick", target_id="bob") == ["ada"]


async def test_a_write_that_is_rolled_back_leaves_no_log_entry(database: Database) -> None:
    audit = Audit(database, directory())

    def fails(connection: Connection) -> None:
        audit.record(connection, actor_id="ada", action="kick", target_id="bob", details={}, now=NOW)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await database.write(fails)
    assert await audit.page("ada", WantedEntries(), 10) == AuditPage([], None)


async def test_only_viewers_of_a_channel_see_entries_about_it(database: Database) -> None:
    audit = Audit(database, directory())
    for channel_id in ("open", "secret", "deleted"):
        await record(database, audit, "own", "channel_edit", channel_id, channel_id=channel_id)

    async def seen_by(member_id: str) -> list[str | None]:
        page = await audit.page(member_id, WantedEntries(), 10)
        return [entry.target_id for entry in page.entries]

    assert await seen_by("ada") == ["open"]
    assert await seen_by("own") == ["deleted", "secret", "open"]


async def test_the_log_is_listed_over_http(chat: ChatServer) -> None:
    owner = await newcomer(chat, "Owner")
    await owner.done("POST", "/api/roles", {"name": "Crew"})
    [entry] = (await owner.done("GET", f"/api/audit?action=role_create&actor_id={owner.id}"))["entries"]
    assert (entry["actor_id"], entry["details"]["name"]) == (owner.id, "Crew")
    page = await owner.done("GET", "/api/audit?limit=1")
    assert (await owner.done("GET", f"/api/audit?before={page['entries'][0]['id']}"))["next"] is None
    for wrong in ("before=x", "before=0", "before=" + "9" * 20, "limit=201", "action=" + "x" * 129):
        assert await owner.refused("GET", f"/api/audit?{wrong}") == "invalid_request"
