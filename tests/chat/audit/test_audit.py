"""Administrative acts are kept in their order, in the write that does them, and shown page by page."""

import pytest

from svc.base.database import Connection, Database
from svc.chat.audit.rules import Audit
from svc.chat.audit.store import Wanted

NOW = 1_800_000_000.0


async def record(database: Database, audit: Audit, actor: str | None, action: str, target: str) -> None:
    await database.write(
        lambda connection: audit.record(
            connection, actor_id=actor, action=action, target_id=target, details={"name": action}, now=NOW
        )
    )


async def test_the_newest_comes_first_and_pages_follow_each_other(database: Database) -> None:
    audit = Audit(database)
    for number in range(5):
        await record(database, audit, "ada", f"act_{number}", "bob")
    seen, before = [], None
    for _ in range(3):
        page, before = await audit.page(Wanted(before=before), 2)
        seen.append([entry.action for entry in page])
    assert seen == [["act_4", "act_3"], ["act_2", "act_1"], ["act_0"]]
    assert before is None


async def test_entries_are_chosen_by_actor_target_and_action(database: Database) -> None:
    audit = Audit(database)
    await record(database, audit, "ada", "kick", "bob")
    await record(database, audit, "eve", "kick", "cyd")
    await record(database, audit, None, "ban", "bob")

    async def found(**wanted: str) -> list[str | None]:
        page, _ = await audit.page(Wanted(**wanted), 10)  # type: ignore[arg-type]
        return [entry.actor_id for entry in page]

    assert await found(actor_id="ada") == ["ada"]
    assert await found(target_id="bob") == [None, "ada"]
    assert await found(action="kick") == ["eve", "ada"]
    assert await found(action="kick", target_id="bob") == ["ada"]


async def test_what_is_undone_is_not_recorded(database: Database) -> None:
    audit = Audit(database)

    def fails(connection: Connection) -> None:
        audit.record(connection, actor_id="ada", action="kick", target_id="bob", details={}, now=NOW)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await database.write(fails)
    assert await audit.page(Wanted(), 10) == ([], None)
