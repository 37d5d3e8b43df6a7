"""Swear words are found even if disguised. Ordinary words that contain them are not matched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.chat.errors import ChatError
from svc.chat.messages.profanity import BLOCK, CENSOR, FLAG, OFF, FoldedText, moderated
from tests.kit.time_complexity import grows_with_its_size


@pytest.mark.parametrize(
    ("text", "censored"),
    [
        ("fuck", "****"),
        ("What the FUCK?!", "What the ****?!"),
        ("**fuck** this", "**" + "****" + "** this"),
        ("ｆｕｃｋ", "****"),  # Full-width letters.
        ("fück", "****"),  # Accents.
        ("fu\u0308ck", "*****"),
        ("fu\u200bck", "*****"),  # An invisible character.
        ("shіt", "****"),  # A Cyrillic letter.
        ("sh!t", "****"),
        ("$h1t!", "****!"),
        ("5h17", "****"),
        ("@sshole", "*******"),
        ("b1tch", "*****"),
        ("fuuuuuck", "********"),
        ("fuckkkk", "*******"),
        ("f u c k you", "******* you"),
        ("f.u.c.k", "*******"),
        ("f-u-c-k", "*******"),
        ("f**k", "****"),
        ("sh*t", "****"),
        ("snake_shit_case", "snake_****_case"),
        ("motherfuckers", "*************"),
        ("whores, sluts", "******, *****"),
    ],
)
def test_a_swear_word_is_found_in_every_common_disguise(text: str, censored: str) -> None:
    result = moderated(text, CENSOR)
    assert (result.text, result.flagged) == (censored, True)


@pytest.mark.parametrize(
    "text",
    [
        "Scunthorpe, Penistone, Clitheroe and Lightwater",
        "The classic assassin assesses a massive bass in the grass",
        "cocktail, peacock, Hancock, cockpit, hitchcock",
        "Essex, Sussex and Middlesex",
        "shiitake, snigger, niggardly, arsenal, analysis, document, circumstances",
        "Dick Turpin, Moby Dick, Dickens",
        "I pass; they passed. As s a rule",
        "a s d f",
        "1 2 3 4 and 455",
        "it is as simple as that",
        "https://example.org/class/pass",
        "",
        "***",
    ],
)
def test_ordinary_words_are_not_matched(text: str) -> None:
    assert not moderated(text, FLAG).matches


def test_profanity_is_ignored_flagged_censored_or_blocked_depending_on_the_mode() -> None:
    assert moderated("oh shit", OFF).text == "oh shit" and not moderated("oh shit", OFF).flagged
    assert moderated("oh shit", FLAG).text == "oh shit" and moderated("oh shit", FLAG).flagged
    assert moderated("oh shit", CENSOR).text == "oh ****"
    with pytest.raises(ChatError, match="profanity_refused"):
        moderated("oh shit", BLOCK)
    assert moderated("oh well", BLOCK).text == "oh well"


@given(st.text(max_size=300))
def test_censoring_keeps_the_length_and_flagging_finds_the_same_matches(text: str) -> None:
    result = moderated(text, CENSOR)
    assert len(result.text) == len(text)
    spans = moderated(text, FLAG).matches
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert result.flagged == bool(spans)


@pytest.mark.parametrize("piece", ["\ufdfa", "\u247d", "\ufb03"])
def test_expanding_ligatures_lengthens_a_message_only_slightly(piece: str) -> None:
    folded = FoldedText.of(piece * 4_000)
    assert len(folded.text) == len(folded.positions) < 4_000 * 2.5
    assert folded.positions == sorted(folded.positions) and folded.positions[-1] == 3_999


@pytest.mark.parametrize(
    "piece", ["a", "f", "@", "\U0001d523", "\ufdfa", "a\u0301", "a ", "aaa_", "a*b ", "as", "f u c k "]
)
def test_the_worst_messages_are_searched_for_profanity_in_linear_time(piece: str) -> None:
    # The search blocks the event loop. A letter repeated four thousand times once blocked it for 80 ms.
    assert grows_with_its_size(lambda size: moderated((piece * size)[:size], CENSOR), 10_000)
