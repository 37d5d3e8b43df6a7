"""The server recognises the emoji in the picker's catalogue and finds emoji by name."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from svc.base.emoji import canonical_emoji, emoji_named, reaction_form
from svc.base.migrations import migrate, migrations_in
from svc.chat.community import SCHEMA_FOLDER
from svc.chat.import_export import store
from svc.chat.import_export.record_types import KINDS
from svc.chat.names import readable_name, readable_nickname
from svc.chat.settings.mdns_records import label

PICKER = Path(__file__).parents[3] / "src" / "svc" / "web" / "vendor" / "emoji" / "signs.js"


@pytest.mark.parametrize(
    "emoji",
    [
        *("👍", "👍🏽", "❤️", "❤", "☺️", "✔️", "➕", "‼️", "⁉️", "ℹ️", "™️", "©️", "1️⃣", "#️⃣", "*⃣"),
        *(
            "🇳🇱",
            "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
            "👨‍👩‍👧‍👦",
            "🏳️‍🌈",
            "🐻‍❄️",
            "🫱🏼‍🫲🏿",
            "🩷",
            "🫨",
            "🫩",
        ),
        *(":party:", ":blob_42:"),
    ],
)
def test_emoji_are_recognised(emoji: str) -> None:
    assert reaction_form(emoji)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "a",
            "yes",
            "1",
            "12",
            "#",
            "!",
            "?!",
            "...",
            "-",
            " ",
            "👍 ",
            "👍a",
            "\u200d",
            "\ufe0f",
            "\n",
            "👍\n",
        ),
        *(
            "👍" * 33,
            ":a:",
            ":Party:",
            ":two words:",
            "::",
            ":x",
            "\u202e👍",
            "\ud83d",
            "<b>",
            "漢",
            "✓",
            "→",
            "€",
            "🏽",
            "🇽🇽",
        ),
    ],
)
def test_other_strings_are_not_emoji(text: str) -> None:
    assert reaction_form(text) is None


def test_every_emoji_in_the_picker_is_accepted_in_every_skin_tone() -> None:
    rows = re.findall(r"^\[.*\]", PICKER.read_text(encoding="utf-8"), re.MULTILINE)
    offered = [msgspec.json.decode(row, type=tuple[str, int, str, str]) for row in rows]
    toned = [sign.replace("🏽", tone) for _, _, sign, _ in offered if sign for tone in "🏻🏼🏽🏾🏿"]
    assert len(offered) > 1900
    for sign in [sign for sign, *_ in offered] + toned:
        assert reaction_form(sign) == sign
        assert readable_nickname(sign) and readable_name(sign, 32)
        assert label(sign, 1) == sign


@pytest.mark.parametrize(
    ("text", "canonical"),
    [("❤", "❤️"), ("❤\ufe0e", "❤️"), ("👍\ufe0f", "👍"), ("#⃣", "#️⃣"), ("🏳‍🌈", "🏳️‍🌈"), ("❤❤️👍", "❤️❤️👍")],
)
def test_variation_selectors_in_emoji_are_ignored(text: str, canonical: str) -> None:
    assert reaction_form(text) == canonical_emoji(text) == canonical


@pytest.mark.parametrize(
    ("name", "tone", "emoji"),
    [
        ("white_check_mark", 0, "✅"),
        ("heart", 3, "❤️"),
        ("wave", 5, "👋🏿"),
        ("people_holding_hands", 3, "🧑🏽‍🤝‍🧑🏽"),
        ("flag-de", 0, "🇩🇪"),
        ("+1", 0, "👍"),
        ("party_parrot", 0, None),
    ],
)
def test_an_emoji_can_be_found_by_its_names_in_other_programs(
    name: str, tone: int, emoji: str | None
) -> None:
    assert emoji_named(name, tone) == emoji


def test_stored_reactions_are_merged_when_the_database_is_upgraded(tmp_path: Path) -> None:
    migrations = migrations_in(SCHEMA_FOLDER)
    [respelling] = [migration.number for migration in migrations if "stored_emoji" in migration.script]
    with closing(sqlite3.connect(tmp_path / "old", isolation_level=None)) as old:
        migrate(old, migrations[: respelling - 1], tmp_path / "backups")
        old.executemany(
            "INSERT INTO reactions VALUES (1, ?, ?, ?)",
            [
                ("❤", "ada", 1),
                ("❤️", "ada", 2),
                ("❤️", "bob", 3),
                ("🏳‍🌈", "bob", 4),
                ("✓", "bob", 5),
                (":heart:", "bob", 6),
            ],
        )
        migrate(old, migrations, tmp_path / "backups")
        rows = set(old.execute("SELECT emoji, member_id FROM reactions"))
    assert rows == {("❤️", "ada"), ("❤️", "bob"), ("🏳️‍🌈", "bob"), ("✓", "bob"), (":heart:", "bob")}


def test_reactions_from_an_older_export_are_merged(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "new", isolation_level=None)) as new:
        migrate(new, migrations_in(SCHEMA_FOLDER), tmp_path / "backups")
        for emoji, member_id in (("❤", "ada"), ("❤️", "ada"), ("❤", "bob")):
            record = {"n": 1, "emoji": emoji, "member_id": member_id, "reacted_at_ms": 1}
            store.put(new, KINDS["reaction"], record)
        rows = set(new.execute("SELECT emoji, member_id FROM reactions"))
    assert rows == {("❤️", "ada"), ("❤️", "bob")}
