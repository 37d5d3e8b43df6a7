"""The table of rules. SQL only."""

from svc.base.database import Connection, Database
from svc.base.strict_json import dumps
from svc.base.tables import number
from svc.chat.automod.rule import MAX_RULES, Rule, Wanted, made
from svc.chat.errors import ChatError
from svc.chat.requests import decoded


async def load(database: Database) -> list[Rule]:
    """In the order in which they were made, without those that no longer can be read."""
    rows = await database.rows(
        "SELECT id, wanted, created_by, created_at_ms FROM automod_rules ORDER BY id LIMIT ?", (MAX_RULES,)
    )
    rules = []
    for rule_id, written, created_by, created_at_ms in rows:
        try:
            wanted = decoded(written.encode(), Wanted)
            rules.append(made(wanted, rule_id, created_by, created_at_ms))
        except ChatError:
            # Written by another version, which takes what this one does not.
            continue
    return rules


def count(connection: Connection) -> int:
    return number(connection.execute("SELECT count(*) FROM automod_rules"))


def insert(connection: Connection, rule: Rule) -> None:
    values = (rule.id, dumps(rule.wanted()).decode(), rule.created_by, rule.created_at_ms)
    connection.execute("INSERT INTO automod_rules VALUES (?, ?, ?, ?)", values)


def replace(connection: Connection, rule: Rule) -> None:
    written = dumps(rule.wanted()).decode()
    connection.execute("UPDATE automod_rules SET wanted = ? WHERE id = ?", (written, rule.id))


def delete(connection: Connection, rule_id: str) -> None:
    connection.execute("DELETE FROM automod_rules WHERE id = ?", (rule_id,))
