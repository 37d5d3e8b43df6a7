"""Every key that the page asks for has words in every language, and no words are left over."""

import re
from functools import cache

import pytest

from svc.chat.community import WEB_FOLDER

KEY = re.compile(r"^([a-z][a-z0-9_-]*) =", re.MULTILINE)
# `t("key"`, and the beginning of a key that is put together: t(`call-${…}`.
ASKED = re.compile(r"""\bt\(\s*(?:"([a-z0-9-]+)"|`([a-z0-9-]+)\$\{)""")
TERNARY = re.compile(r"""\bt\([^()"`]*\?\s*"([a-z0-9-]+)"\s*:\s*"([a-z0-9-]+)\"""")
NAMED = re.compile(r"""\b(?:words|label|hint|title):\s*"([a-z]+(?:-[a-z0-9]+)+)\"""")
# `explain` looks for the words of a refusal by its code.
FROM_CODE = ("error-",)
LANGUAGES = sorted(path.name for path in (WEB_FOLDER / "words").iterdir() if path.is_dir())
# Those that the page offers; others are being translated.
[TABLE] = re.findall(r"LANGUAGES = \{([^}]*)\}", (WEB_FOLDER / "words" / "words.js").read_text())
OFFERED = re.findall(r"(\w+):", TABLE)
PLACEHOLDER = re.compile(r"\$([a-zA-Z]+)")


@cache
def messages(language: str) -> dict[str, str]:
    text = "\n".join(path.read_text() for path in sorted((WEB_FOLDER / "words" / language).glob("*.ftl")))
    parts = KEY.split(text)
    keys = parts[1::2]
    assert len(keys) == len(set(keys)), sorted({key for key in keys if keys.count(key) > 1})
    return dict(zip(keys, parts[2::2], strict=True))


def code() -> str:
    modules = [path for path in WEB_FOLDER.rglob("*.js") if "vendor" not in path.parts]
    return "\n".join(path.read_text() for path in modules)


def asked() -> tuple[set[str], set[str]]:
    """Whole keys, and beginnings of keys."""
    found = ASKED.findall(code())
    whole = {key for key, _ in found if key} | set(NAMED.findall(code()))
    whole |= {key for pair in TERNARY.findall(code()) for key in pair}
    return whole, {beginning for _, beginning in found if beginning}


def test_every_key_has_words() -> None:
    whole, beginnings = asked()
    known = set(messages("en"))
    assert whole - known == set()
    for beginning in beginnings:
        assert any(key.startswith(beginning) for key in known), beginning


def test_no_words_are_left_over() -> None:
    whole, beginnings = asked()
    starts = (*beginnings, *FROM_CODE)
    assert {key for key in messages("en") if key not in whole and not key.startswith(starts)} == set()


@pytest.mark.parametrize("language", OFFERED)
def test_a_language_has_all_words_and_fills_in_the_same(language: str) -> None:
    english, here = messages("en"), messages(language)
    assert set(here) == set(english)
    for key, words in english.items():
        assert set(PLACEHOLDER.findall(here[key])) == set(PLACEHOLDER.findall(words)), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_that_is_not_complete_has_no_words_of_its_own(language: str) -> None:
    assert set(messages(language)) <= set(messages("en"))
