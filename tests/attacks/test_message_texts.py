"""Checking costly messages against costly automod rules does not delay other members."""

import gc
import time
from collections.abc import Callable, Sequence

import pytest

from svc.base.time_slices import run_to_end
from svc.chat.automod.detector import RuleMatcher
from svc.chat.automod.pattern_matcher import STEP_LIMIT
from svc.chat.automod.rule_definition import MAX_WORDS, NewRule, build_rule
from svc.chat.messages.message import MAX_TEXT_CHARACTERS
from svc.chat.messages.profanity import ScannedText
from svc.chat.text_folding import fold
from tests.chat.members_by_role import MembersByRole
from tests.kit.time_complexity import grows_with_its_size

# The longest step may take this fraction of the search or this many seconds of CPU time, whichever is more.
# In practice, it takes at most 1/40 or 1.6 ms.
LARGEST_PART, SMALL_S = 1 / 8, 0.005
LETTERS = "abcdefghijklmnopqrstuvwxyz"
PATTERNS: dict[str, object] = {"kind": "words", "words": [f"a*{letter}*a*?" for letter in LETTERS] * 7}
REPEATED = ["a" * (1 + n % 14) + "b" * (2 + n // 14) for n in range(MAX_WORDS)]
STARRED = [f"*{('ab' * 25)[n % 2 :]}{letter}*" for n, letter in enumerate(LETTERS)]
BEGINNINGS = [f"{('ab' * 10)[:length]}*" for length in range(2, 20)] + [
    f"*a{letter}{letter}*" for letter in LETTERS
]
# Maps each case to the text that the message repeats and a rule that is expensive for this message.
WORST: dict[str, tuple[str, dict[str, object]]] = {
    "disguises": ("f.u.c.k $h!t_h1t fffuuuck ", PATTERNS),
    "ligatures": ("ß_ｓｓéé_ﷺｓﬁ_1 ", PATTERNS),
    "repeated letters": ("ab ", {"kind": "words", "words": REPEATED}),
    "one word": ("ab", {"kind": "words", "words": STARRED}),
    "words that begin late": (f"x{'ab' * 127} ", {"kind": "words", "words": BEGINNINGS}),
    "rows of letters": ("_-a", {"kind": "words", "words": ["abc"]}),
    "links": ("a.bc/ ", {"kind": "links", "allowed": [f"a{n}.example" for n in range(100)]}),
    "mentions": ("[a](mention:b)", {"kind": "mentions", "most": 1}),
}


def finders(**wanted: object) -> list[RuleMatcher]:
    fields = {"name": "a", "action": "censor", "enabled": True} | wanted
    rule = build_rule(NewRule(**fields), "1", None, 0)  # type: ignore[arg-type]
    return [RuleMatcher(rule) for _ in range(20)]


def pieces(text: str, rules: Sequence[RuleMatcher]) -> list[list[float]]:
    """Check a message. Return the CPU time of each step in seconds, for each rule."""
    read, by_rule = ScannedText(text), list[list[float]]()
    for work in (read.profane(), *(rule.search(read) for rule in rules)):
        ended, taken = False, list[float]()
        by_rule.append(taken)
        while not ended:
            before = time.thread_time()
            ended = next(work, StopIteration) is StopIteration
            taken.append(time.thread_time() - before)
    return by_rule


@pytest.mark.parametrize(("piece", "rules"), WORST.values(), ids=WORST)
def test_a_message_is_searched_in_many_small_steps(piece: str, rules: dict[str, object]) -> None:
    """Check all kinds of rules. Word rules once took seconds in one step, because they were assumed to cost
    nothing.
    """
    text, ready = (piece * MAX_TEXT_CHARACTERS)[:MAX_TEXT_CHARACTERS], finders(**rules)
    gc.disable()
    try:
        runs = [pieces(text, ready) for _ in range(3)]
    finally:
        gc.enable()
    assert any(
        all(max(taken) < max(LARGEST_PART * sum(taken), SMALL_S) for taken in by_rule) for by_rule in runs
    )


def test_letters_in_words_with_wildcards_count_towards_the_cost_limit() -> None:
    short, long = (finders(kind="words", words=[f"*{word}*"])[0] for word in ("abc", "abc" * 20))
    assert 0 < short.steps < long.steps < STEP_LIMIT


@pytest.mark.parametrize(
    "read",
    [fold, lambda text: run_to_end(finders(kind="links")[0].search(ScannedText(f"http://{text}/")))],
    ids=["search index", "links"],
)
def test_the_cost_of_combining_marks_is_linear_in_their_number(read: Callable[[str], object]) -> None:
    """Check a text full of combining marks, which Unicode normalisation sorts. This once took 100 ms."""
    assert grows_with_its_size(lambda size: read("a" + "\u0301" * size + "\u0316" * size), 10_000)


@pytest.mark.parametrize(
    "text",
    [
        "[x](https:&#47;&#x2F;evil.example)",
        r"[x](https:\/\/evil.example)",
        "[x](&#104;ttps://evil.example)",
        r"https://evil.example\@good.example",
    ],
)
def test_a_link_whose_url_is_escaped_is_found(text: str) -> None:
    """Check links with escaped URLs. The web client opens them at evil.example."""
    (rule, *_) = finders(kind="links", allowed=["good.example"])
    (span, *_) = run_to_end(rule.search(ScannedText(text))) or [(0, 0)]
    assert text[slice(*span)].endswith(("evil.example", "good.example"))
    assert run_to_end(rule.search(ScannedText(text.replace("evil", "www.good")))) is None


def test_matches_beyond_a_limit_count_as_one() -> None:
    """Check a message with 1,300 matches. For twenty rules, merging these once took as long as the search."""
    (rule, *_) = finders(kind="words", words=["ab"])
    assert run_to_end(rule.search(ScannedText("ab " * 1_000))) == [(0, 3_000)]


async def test_a_message_is_searched_only_once(
    members: MembersByRole, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the write transaction, which cannot be interrupted, does not repeat the search."""
    wanted = {"name": "a", "kind": "words", "action": "censor", "enabled": True, "words": ["a*b"]}
    await members.owner.done("POST", "/api/automod/rules", wanted)
    searched: list[str] = []
    search = RuleMatcher._search

    def noted(self: RuleMatcher, read: ScannedText) -> object:
        searched.append(read.text)
        return search(self, read)

    monkeypatch.setattr(RuleMatcher, "_search", noted)
    posted = await members.member.done("POST", "/api/channels/general/messages", {"text": "say acb now"})
    assert posted["text"] == "say *** now"
    assert searched == ["say acb now"]
