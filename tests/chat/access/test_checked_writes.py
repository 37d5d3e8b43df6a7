"""Permissions are checked when a write runs. Every write goes through `access/checked_writes`."""

import ast
import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import svc.chat
from svc.base.database import Database, Write
from svc.chat.access.checked_writes import exclusive_write, on_authority_of, shared_write
from svc.chat.access.directory import Directory, Member
from svc.chat.errors import ChatError

CHAT = Path(svc.chat.__file__).parent
# Methods that write without a permission check. The comments explain why such a write cannot violate a rule,
# even if it has to wait.
ASK_NOBODY = {
    # Runs at startup, before any request is served.
    "automod/rule_engine.py _switch_off_excess",
    "channels/rules.py load",
    "invites/rules.py standing",
    "authentication/returning_people.py load",
    "authentication/rules.py load",
    "media/stored_media.py load",
    "settings/rules.py load",
    "clock_repair/repair.py load",
    "uploads/queue.py load",
    "uploads/rules.py load",
    # The token's row is read and checked in the same transaction.
    "authentication/sessions.py refresh",
    "authentication/sessions.py end",
    # Background work that was permitted when it was requested.
    "account/rules.py _erase_next",
    "authentication/returning_people.py sweep",
    "messages/personal_data.py erase_some",
    "messages/retention.py _some",
    "messages/search.py _bit_by_bit",
    "media/stored_media.py remove",
    "media/sweep.py _some",
    "private_conversations/sweep.py run_once",
    "messages/index_cleanup.py run_once",
    "uploads/rules.py tidy_up",
    # Adds link previews to a message, which is checked again in the same transaction.
    "previews/link_previews.py _show",
    # The push service has reported that the device is gone.
    "push/subscriptions.py delete_unknown",
    # Stores the URL at which a signed-in member opened the web client.
    "push/vapid_contact.py seen",
    # Writes an upload's bytes and jobs. Their rows are read again in the same transaction, and other members
    # cannot see them yet.
    "media/stored_media.py keep",
    "uploads/rules.py _reserve",
    "uploads/rules.py _write",
    "uploads/rules.py _complete",
    "uploads/rules.py _release_file",
    "uploads/queue.py claim",
    "uploads/queue.py renew",
    "uploads/queue.py reserve",
    "uploads/queue.py hand_on",
    "uploads/queue.py fail",
    # Runs only while the server is stopped.
    "import_export/community_import.py import_whole",
    "import_export/foreign_import.py add",
}


def writes() -> Iterator[str]:
    for path in sorted(CHAT.rglob("*.py")):
        for method in ast.walk(ast.parse(path.read_text())):
            if isinstance(method, ast.AsyncFunctionDef) and any(map(_is_write, ast.walk(method))):
                yield f"{path.relative_to(CHAT)} {method.name}"


def _is_write(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="write", value=ast.Attribute(attr="_database"))):
            return True
        case ast.Call(func=ast.Attribute(attr="write", value=ast.Name(id="database"))):
            return True
    return False


def test_every_write_without_a_permission_check_is_listed_with_a_reason() -> None:
    assert set(writes()) == ASK_NOBODY


class Names:
    """A feature that stores names both in memory and in the database."""

    def __init__(self, database: Database, directory: Directory) -> None:
        self._database = database
        self._directory = directory
        self.committed: list[str] = []

    @exclusive_write
    def add(self, name: str) -> Write[None, str]:
        if name in self._directory.members:
            raise ChatError("too_many")
        return Write(lambda connection: None, lambda _: self._added(name))

    @shared_write
    def add_nothing(self, name: str) -> Write[None, None]:
        self._directory.member(name)
        return Write(lambda connection: None, lambda _: self.committed.append(name))

    @shared_write
    def add_past_the_rules(self, name: str) -> Write[None, str]:
        return Write(lambda connection: None, lambda _: self._added(name))

    def _added(self, name: str) -> str:
        self._directory.put_member(Member(name, name))
        return name


@pytest.fixture
def names(database: Database) -> Names:
    directory = Directory(lambda: 0.0)
    directory.may_change = lambda: database.in_exclusive_commit
    return Names(database, directory)


async def test_each_exclusive_write_sees_the_effects_of_earlier_writes(names: Names) -> None:
    writes = [
        names.add_nothing("Ada"),
        names.add("Ada"),
        names.add("Ada"),
        names.add_nothing("Ada"),
        names.add_nothing("Bob"),
    ]
    answers = await asyncio.gather(*writes, return_exceptions=True)
    codes = [answer.code if isinstance(answer, ChatError) else answer for answer in answers]
    assert codes == ["unknown_member", "Ada", "too_many", None, "unknown_member"]


async def test_a_cancelled_write_is_completed_before_the_next_one(names: Names) -> None:
    first = asyncio.ensure_future(names.add("Ada"))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(ChatError, match="too_many"):
        await names.add("Ada")
    assert first.cancelled()


async def test_a_write_cancelled_while_waiting_does_not_delay_the_next_one(names: Names) -> None:
    writes = [asyncio.ensure_future(names.add(name)) for name in ("Ada", "Bob", "Cyd")]
    await asyncio.sleep(0)
    writes[1].cancel()
    await asyncio.wait(writes)
    assert list(names._directory.members) == ["Ada", "Cyd"]


async def test_only_exclusive_writes_change_the_directory(names: Names) -> None:
    with pytest.raises(AssertionError, match="exclusive_write"):
        await names.add_past_the_rules("Ada")
    with pytest.raises(AssertionError, match="exclusive_write"):
        names._directory.drop_member("Ada")


async def test_the_caller_is_checked_again_when_the_write_runs(names: Names) -> None:
    def refuse() -> None:
        raise ChatError("token_invalid")

    with on_authority_of(refuse), pytest.raises(ChatError, match="token_invalid"):
        await names.add("Ada")
    assert await names.add("Ada") == "Ada"
