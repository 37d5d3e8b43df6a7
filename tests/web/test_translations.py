"""Tests that every key in use has an English string, other languages match it, and no string is unused."""

import re
from functools import cache
from pathlib import Path

import pytest

from svc.chat import errors
from svc.chat.pages.routes import WEB_FOLDER
from svc.chat.uploads.queue import GIVEN_UP
from tests.kit.page_templates import Module

KEY = re.compile(r"^([a-z][a-z0-9_-]*) =", re.MULTILINE)
COMMENT = re.compile(r"^#.*", re.MULTILINE)
# Matches a key, as in `t("key"`, or the beginning of a composed key, as in t(`call-${…}`.
T_CALLS = re.compile(r"""\bt\(\s*(?:"([a-z0-9-]+)"|`([a-z0-9-]+)\$\{)""")
TERNARY = re.compile(r"""\bt\([^()"`]*\?\s*"([a-z0-9-]+)"\s*:\s*"([a-z0-9-]+)\"""")
KEYS_IN_TABLES = re.compile(r"""\b(?:words|label|hint|title):\s*"([a-z]+(?:-[a-z0-9]+)+)\"""")
# `explain` looks up the message of an error by its code.
FROM_CODE = ("error-",)
LANGUAGES = sorted(path.name for path in (WEB_FOLDER / "words").iterdir() if path.is_dir())
# The languages that users can choose. Others are still being translated.
[TABLE] = re.findall(r"LANGUAGES = \{([^}]*)\}", (WEB_FOLDER / "words" / "words.js").read_text())
OFFERED = re.findall(r"(\w+):", TABLE)
SEARCH_FILTERS = ("from", "in", "has", "before", "after")
# Errors that only programs encounter, with the reason why the web client does not.
OF_PROGRAMS = {
    "invalid_json": "The page sends JSON.",
    "lease_lost": "A worker holds a job too long.",
    "media_address_invalid": "The page shows files at the addresses that the server gave it.",
    "media_address_over": "A browser fetches a file, and shows nothing of the answer.",
    "method_not_allowed": "The page uses the methods that there are.",
    "no_channel": "A program posts with a webhook.",
    "offset_mismatch": "The page asks where the upload is, and continues from there.",
    "range_not_satisfiable": "A browser fetches a part of a file, and shows nothing of the answer.",
    "tus_version": "The page speaks the version of tus that the server does.",
    "unknown_event": "The page asks for what there is.",
    "unknown_job": "An operator repeats a job at the command line.",
    "unsupported_encoding": "The page compresses no request.",
    "upload_complete": "The page sends nothing more of an upload that is complete.",
    "wrong_content_type": "The page names the type of what it sends.",
}
# Errors from the client itself, and from a worker that cannot process a file.
OF_THE_PAGE = {"no_proof", "unreachable", "signed_out", "sign_in_again"}
OF_A_WORKER = {GIVEN_UP, "invalid_video", "timeout", "too_large"}
# The server often has a more precise message for these errors. It is in English, so only the English strings
# include it, and other languages have a general message.
HANDED_ON_IN_ENGLISH = {
    *("error-forbidden", "error-not-in-voice", "error-storage-full", "error-too-large", "error-too-many"),
    *("error-unsupported-type", "error-uploads-disabled"),
}
# Attributes of elements and properties of components that are displayed or read aloud.
READ = {"alt", "aria-description", "aria-label", "aria-roledescription", "placeholder", "title"}
READ |= {"action", "hint", "label", "text", "words"}
LETTERS = re.compile(r"[^\W\d_]{2}")
SENTENCE = re.compile(r"[A-Z][a-z]+ \w")
TWO_WORDS = re.compile(r"[A-Za-z]{2,},?\s+[A-Za-z]{2,}")
# Names of programs whose versions are displayed, and of fields in the forms of other sites.
NAMES = {
    "views/admin/health_page.js": {"svc", "Python", "SQLite"},
    "views/admin/webhook_snippets.js": {"Payload URL", "Content type", "Webhook URL"},
}
OWN_MODULES = sorted(path for path in WEB_FOLDER.rglob("*.js") if "vendor" not in path.parts)
# Matches one plural form. The last form has a star.
PLURAL = re.compile(r"^ +\*?\[(zero|one|two|few|many|other)\]", re.MULTILINE)
PLURALS = {"ja": {"other"}}  # The languages whose plural forms for whole numbers differ from English.
PLACEHOLDER = re.compile(r"\$([a-zA-Z]+)")


@cache
def messages(language: str) -> dict[str, str]:
    text = "\n".join(path.read_text() for path in sorted((WEB_FOLDER / "words" / language).glob("*.ftl")))
    parts = KEY.split(COMMENT.sub("", text))
    keys = parts[1::2]
    assert len(keys) == len(set(keys)), sorted({key for key in keys if keys.count(key) > 1})
    return dict(zip(keys, parts[2::2], strict=True))


def code() -> str:
    return "\n".join(path.read_text() for path in OWN_MODULES)


def used_keys() -> tuple[set[str], set[str]]:
    """Return the complete keys, and the beginnings of composed keys."""
    keys = T_CALLS.findall(code())
    whole = {key for key, _ in keys if key} | set(KEYS_IN_TABLES.findall(code()))
    whole |= {key for pair in TERNARY.findall(code()) for key in pair}
    return whole, {beginning for _, beginning in keys if beginning}


def test_every_key_has_an_english_string() -> None:
    whole, beginnings = used_keys()
    known = set(messages("en"))
    assert whole - known == set()
    for beginning in beginnings:
        assert any(key.startswith(beginning) for key in known), beginning


def test_no_markup_contains_literal_strings() -> None:
    """Text between tags, attributes that are read aloud, and sentences in strings must all come from `t`."""
    literals = {path.relative_to(WEB_FOLDER).as_posix(): words_in_markup(path) for path in OWN_MODULES}
    extra = {name: words - NAMES.get(name, set()) for name, words in literals.items()}
    assert {name: words for name, words in extra.items() if words} == {}


def words_in_markup(path: Path) -> set[str]:
    module = Module(path.read_text())
    texts = [*module.texts(), *(value for name, value in module.attributes() if name in READ)]
    words = {word for text in texts for word in re.split(r"[\s·]+", text) if LETTERS.search(word)}
    return words | {text for text in module.strings if SENTENCE.match(text)}


def test_literal_strings_in_markup_are_found() -> None:
    inner = 'html`<b title="Two words">${/[`"]/.test(x) && "Three more words"}</b>`'
    module = Module(
        f'// html`no`\nconst a = html`<p class="x">One <${{B}} y=${{{{z: 1}}}} />${{{inner}}}</p>`;'
    )
    assert [text for text in module.texts() if LETTERS.search(text)] == ["One "]
    assert ("title", "Two words") in module.attributes()
    assert module.strings == ["Three more words"]


def test_there_are_no_unused_strings() -> None:
    whole, beginnings = used_keys()
    starts = (*beginnings, *FROM_CODE)
    assert {key for key in messages("en") if key not in whole and not key.startswith(starts)} == set()


@pytest.mark.parametrize("language", OFFERED)
def test_strings_have_the_same_variables_in_all_languages(language: str) -> None:
    english, translated = messages("en"), messages(language)
    assert translated.keys() <= english.keys()
    for key, words in [(key, words) for key, words in english.items() if key in translated]:
        filled = set(PLACEHOLDER.findall(words))
        if language != "en" and key in HANDED_ON_IN_ENGLISH:
            assert filled == {"message"}, key
            filled = set()
        assert set(PLACEHOLDER.findall(translated[key])) == filled, key


@pytest.mark.parametrize("language", OFFERED)
def test_every_string_is_translated(language: str) -> None:
    """The skip reason lists the missing strings. For these, the server falls back to English
    (`chat/pages/bundler`).
    """
    if missing := messages("en").keys() - messages(language).keys():
        pytest.skip(f"English texts in {language}: {', '.join(sorted(missing))}")


@pytest.mark.parametrize("language", [name for name in OFFERED if name != "en"])
def test_translations_contain_no_english_sentences(language: str) -> None:
    """A language must not have two consecutive words in common with English. A single word proves nothing,
    because "UDP, direct" is also French.
    """
    texts = {key: re.sub(r"\{[^}]*\}", "", words) for key, words in messages(language).items()}
    english = messages("en")
    unchanged = {key for key, words in messages(language).items() if words.strip() == english[key].strip()}
    assert {key for key in unchanged if TWO_WORDS.search(texts[key])} <= {"path-udp"}


@pytest.mark.parametrize("language", OFFERED)
def test_a_string_with_a_count_has_the_plural_forms_of_its_language(language: str) -> None:
    counted = {key: set(PLURAL.findall(words)) for key, words in messages(language).items()}
    wanted = PLURALS.get(language, {"one", "other"})
    assert {key: forms for key, forms in counted.items() if forms - {"other"} and forms != wanted} == {}
    assert {key for key, forms in counted.items() if forms} >= {"lasting-hours", "people-here"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_incomplete_language_adds_no_strings_of_its_own(language: str) -> None:
    assert set(messages(language)) <= set(messages("en"))


def test_every_error_that_a_person_can_encounter_has_a_message() -> None:
    assert OF_PROGRAMS.keys() <= set(errors.CODES)
    met = {*errors.CODES, *OF_THE_PAGE, *OF_A_WORKER} - OF_PROGRAMS.keys()
    worded = {key for key in messages("en") if key.startswith(FROM_CODE)}
    assert worded == {f"error-{code.replace('_', '-')}" for code in met}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_search_filter_is_a_single_unambiguous_word(language: str) -> None:
    words = {name: messages(language)[f"search-{name}"].split("\n")[0].strip() for name in SEARCH_FILTERS}
    assert all(word.isalpha() for word in words.values())
    assert len({*words.values()}) == len(words)
    assert [name for name, word in words.items() if word in SEARCH_FILTERS and word != name] == []
