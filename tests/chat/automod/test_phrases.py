"""Forbidden words and patterns match disguised text, and no message makes the search slow."""

import pytest

from svc.base.time_slices import run_to_end
from svc.chat.automod.detector import links
from svc.chat.automod.pattern_matcher import MAX_MATCHES
from svc.chat.automod.rule_definition import MAX_CHARACTERS, Phrases, problem_with
from svc.chat.messages.profanity import ScannedText, Span, mask, merge_spans
from tests.kit.time_complexity import grows_with_its_size


def found_in(text: str, phrases: Phrases) -> list[Span]:
    return run_to_end(phrases.search(ScannedText(text)))


def censored(entry: str, text: str) -> str:
    return mask(text, merge_spans(found_in(text, Phrases([entry]))))


@pytest.mark.parametrize(
    ("entry", "text", "left"),
    [
        ("scam", "A SCAM, scams and scammers", "A ****, ***** and scammers"),
        ("scam", "s.c.a.m and $c@m and ѕcam", "******* and **** and ****"),
        ("scam*", "scam scammers", "**** ********"),
        ("*scam*", "cryptoscams", "***********"),
        ("Ärger", "arger ÄRGER", "***** *****"),
        ("馬鹿", "お前は馬鹿だ", "******"),
        ("free nitro", "get FREE,  nitro now; freenitro", "get ************ now; freenitro"),
        ("free nitro", "freeze nitrogen", "freeze nitrogen"),
        ("free*nitro", "free-gift-nitro! free of nitro", "***************! free of nitro"),
        ("discord.gg/*", "at discord.gg/abc, discordxgg/abc", "at *************** discordxgg/abc"),
        ("call ###-####", "call 555-1234 or call 555-12345", "************* or call 555-12345"),
        ("b?d", "bad bid bread b d", "*** *** bread b d"),
        ("(x)", "a (x) b", "a *** b"),
        ("c++", "I like C++.", "I like ***."),
        (".*", "anything. at all", "anything* at all"),
        ("(a+)+$", "aaaaaaaa (a+)+$", "aaaaaaaa ******"),
    ],
)
def test_a_pattern_matches_as_documented(entry: str, text: str, left: str) -> None:
    assert not problem_with(entry)
    assert censored(entry, text) == left


@pytest.mark.parametrize("entry", ["*", " ", "??", "#*#", "a" * (MAX_CHARACTERS + 1), "a*b*c*d*e*f"])
def test_a_pattern_that_matches_everything_or_costs_too_much_is_rejected(entry: str) -> None:
    assert problem_with(entry)


HOSTILE = [
    "a*a*a*ab",
    "*" + "a" * 62 + "b",
    "?a?a?a?a?a?a?a?b*c",
    "a a a a a b",
    "###*###*###x",
    "*a*b*",
    "(a+)+",
]


@pytest.mark.parametrize("entry", HOSTILE)
@pytest.mark.parametrize("piece", ["a", "a ", "1", "aaaaab", "a\u0301", "ab*c", "(a+", " "])
def test_the_search_cost_is_linear_in_the_text_length_for_any_pattern(entry: str, piece: str) -> None:
    # The cost matters because a search blocks the event loop.
    phrases = Phrases([entry])
    assert grows_with_its_size(lambda size: found_in((piece * size)[:size], phrases), 4_000)


def test_a_text_with_more_matches_than_the_total_limit_is_censored_entirely() -> None:
    assert censored("b?d", "bad " * 200).strip("* ") == ""
    many = Phrases([f"*{'?' * (1 + n)}a*?a" for n in range(8)])
    assert len(found_in("a-" * 2000, many)) <= MAX_MATCHES + 8


@pytest.mark.parametrize("piece", ["a.", "https://", "www.", "a-", "x:", "a.b/", "[](", "+", "https://a)"])
def test_the_cost_of_finding_links_is_linear_in_the_text_length(piece: str) -> None:
    assert grows_with_its_size(lambda size: links((piece * size)[:size]), 4_000)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see https://example.org/a, and (http://b.example)", ["https://example.org/a", "http://b.example"]),
        ("[here](https://example.org/x) now", ["https://example.org/x"]),
        ("www.example.org or example.org/there", ["www.example.org", "example.org/there"]),
        ("`https://example.org`", ["https://example.org"]),
        ("steam://run/1", ["steam://run/1"]),
        ("mail me@example.org, read a.py and and/or v1.2", []),
        ("[Ada](mention:01234567)", []),
    ],
)
def test_links_are_found_with_and_without_a_scheme(text: str, expected: list[str]) -> None:
    assert [link for link, _ in links(text)] == expected
