"""Defines automod rules as authors write them: the content to find, the members to check, and the action.

Validates requests. Reads no messages and stores nothing.

Words and patterns also match disguised text. A pattern is not a regular expression. It consists of literal
characters and three wildcards: `*` for up to MAX_GAP characters of the same word, `?` for one character, and
`#` for a digit. Its cost depends only on its length and gaps (`pattern_matcher`). A word that consists only
of letters is found in the same disguises as the words that `profanityMode` censors.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from msgspec import Meta

from svc.base.time_slices import Work
from svc.chat.automod.pattern_matcher import MAX_MATCHES, Pattern, Positions, longest_piece
from svc.chat.endpoints import Request
from svc.chat.errors import ChatError
from svc.chat.messages.profanity import FoldedText, ScannedText, Span, WordList
from svc.chat.messages.search_words import has_unspaced
from svc.chat.schemas import Id, TimeMs

MAX_CHARACTERS = 64
# More gaps would not make a pattern more precise.
MAX_GAPS = 3
# The cost in steps of each letter of a word that begins or ends with a star: 4 µs for 4,000
# characters of text.
_STEPS_OF_LETTER = 10


class Phrases:
    """The words and patterns of a rule. Each entry must have passed `problem_with`."""

    def __init__(self, entries: Sequence[str]) -> None:
        words: list[str] = []
        self._patterns: list[tuple[str, Pattern]] = []
        for entry in map(_fold, entries):
            if entry.strip("*").isalpha():
                words.append(entry)
            else:
                self._patterns.append((longest_piece(entry), Pattern(entry)))
        self._words = WordList(words) if words else None
        starred = sum(len(word) for word in words if "*" in word)
        # Counts towards STEP_LIMIT, together with the steps of all other rules.
        self.steps = _STEPS_OF_LETTER * starred + sum(pattern.steps for _, pattern in self._patterns)

    def search(self, text: ScannedText) -> Work[list[Span]]:
        """Return the spans that match an entry, or the span of the whole text if there are too many."""
        spans = [] if self._words is None else (yield from self._words.search(text))
        folded = yield from text.folded()
        for piece, pattern in self._patterns:
            # Most messages do not contain the piece, so the slower pattern search rarely runs.
            if piece in folded.text:
                positions = yield from text.cached(Positions, lambda: Positions.finding(folded.text))
                for span in pattern.spans(positions):
                    spans.append(folded.span(*span))
                    yield
                yield
        return spans if len(spans) <= MAX_MATCHES else [(0, len(text.text))]


def problem_with(entry: str) -> str:
    """Return the reason why an entry cannot be searched for, or an empty string."""
    folded = _fold(entry)
    if len(folded) > 2 * MAX_CHARACTERS or len(entry) > MAX_CHARACTERS:
        return f"{entry[:32]!r} has more than {MAX_CHARACTERS} characters"
    if not longest_piece(folded):
        return f"{entry!r} has nothing to look for: give it a letter"
    if folded.strip("*").count("*") > MAX_GAPS:
        return f"{entry!r} has more than {MAX_GAPS} stars inside"
    return ""


def _fold(entry: str) -> str:
    plain = re.sub(r"\*{2,}", "*", " ".join(FoldedText.of(entry.strip()).text.split()))
    # In scripts without spaces, nothing marks the start of a word, so the entry also matches inside a longer
    # run of letters.
    return f"*{plain.strip('*')}*" if has_unspaced(plain) and plain.strip("*").isalpha() else plain


Kind = Literal["words", "links", "mentions", "repeats", "newcomers"]
WORDS: Final = "words"
LINKS: Final = "links"
MENTIONS: Final = "mentions"
REPEATS: Final = "repeats"
NEWCOMERS: Final = "newcomers"
# The possible actions on a message, mildest first.
Action = Literal["flag", "censor", "block", "timeout"]
FLAG: Final = "flag"
CENSOR: Final = "censor"
BLOCK: Final = "block"
TIMEOUT: Final = "timeout"

# The maximum number of rules, because every message is checked against all rules.
MAX_RULES = 20
MAX_NAME = 64
MAX_WORDS, MAX_WORD = 200, 256
MAX_DOMAINS, MAX_DOMAIN = 100, 253
MAX_EXCEPTED = 50
# Derived from other limits: a message can mention 50 members, and posts are stored for an hour.
MAX_NUMBER = 49
MAX_REPEATS = 19
WITHIN_S, MIN_WITHIN_S = 3600, 10
NEWCOMER_S = 30 * 24 * 60 * 60
TIMEOUT_S, MIN_TIMEOUT_S = 28 * 24 * 60 * 60, 60

MAX_LABELS = 9
_DOMAIN = re.compile(rf"(?:[^\s./:@]{{1,63}}\.){{1,{MAX_LABELS - 1}}}[^\s./:@]{{2,63}}|localhost")


_SO_MANY_WORDS, _SO_MANY_DOMAINS = Meta(max_length=MAX_WORDS), Meta(max_length=MAX_DOMAINS)
Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]
Excepted = Annotated[Sequence[Id], Meta(max_length=MAX_EXCEPTED)]
Most = Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
Within = Annotated[int, Meta(ge=0, le=WITHIN_S)]
Timeout = Annotated[int, Meta(ge=0, le=TIMEOUT_S)]
Newcomer = Annotated[int, Meta(ge=0, le=NEWCOMER_S)]


class NewRule(Request):
    """The content of a rule. Fields that do not apply to its kind or action are ignored."""

    name: Name
    kind: Kind
    action: Action
    enabled: bool | None = None
    words: Annotated[Sequence[Annotated[str, Meta(max_length=MAX_WORD)]], _SO_MANY_WORDS] | None = None
    # For link rules: allowed domains, including their subdomains.
    allowed: Annotated[Sequence[Annotated[str, Meta(max_length=MAX_DOMAIN)]], _SO_MANY_DOMAINS] | None = None
    # The number of mentions in a message, or of repeats within `within_s`, that the rule allows.
    most: Most | None = None
    within_s: Within | None = None
    timeout_s: Timeout | None = None
    # If not 0, the rule applies only to members who joined in the last `newcomer_s` seconds.
    newcomer_s: Newcomer | None = None
    except_roles: Excepted | None = None
    except_channels: Excepted | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as its managers see it. A number that does not apply is 0."""

    id: Id
    name: Name
    enabled: bool
    kind: Kind
    action: Action
    words: Annotated[Sequence[Annotated[str, Meta(min_length=1, max_length=MAX_WORD)]], _SO_MANY_WORDS]
    allowed: Annotated[Sequence[Annotated[str, Meta(min_length=1, max_length=MAX_DOMAIN)]], _SO_MANY_DOMAINS]
    most: Most
    within_s: Within
    timeout_s: Timeout
    newcomer_s: Newcomer
    except_roles: Excepted
    except_channels: Excepted
    created_by: Id | None
    created_at_ms: TimeMs
    # Whether an earlier version enabled the rule, although its patterns exceed this version's limit.
    too_slow: bool = False

    def definition(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in NewRule.__struct_fields__}


def build_rule(wanted: NewRule, rule_id: str, created_by: str | None, created_at_ms: int) -> Rule:
    """Build the rule that a request describes. Raises ChatError."""
    name = wanted.name.strip()
    if not name:
        raise ChatError("invalid_request", "name must contain a visible character")
    kind, action = wanted.kind, wanted.action
    newcomer_s = wanted.newcomer_s or 0
    if kind == NEWCOMERS and not newcomer_s:
        raise ChatError("invalid_request", "newcomer_s must be set: how long a member counts as a newcomer")
    timed = action == TIMEOUT
    repeated = kind == REPEATS
    return Rule(
        id=rule_id,
        name=name,
        enabled=bool(wanted.enabled),
        kind=kind,
        action=action,
        words=_words(wanted.words or ()) if kind == WORDS else (),
        allowed=_domains(wanted.allowed or ()) if kind == LINKS else (),
        most=_most(wanted),
        within_s=_number(wanted.within_s, "within_s", MIN_WITHIN_S, WITHIN_S) if repeated else 0,
        timeout_s=_number(wanted.timeout_s, "timeout_s", MIN_TIMEOUT_S, TIMEOUT_S) if timed else 0,
        newcomer_s=newcomer_s,
        except_roles=tuple(dict.fromkeys(wanted.except_roles or ())),
        except_channels=tuple(dict.fromkeys(wanted.except_channels or ())),
        created_by=created_by,
        created_at_ms=created_at_ms,
    )


def _number(value: int | None, name: str, least: int, most: int) -> int:
    """Return a required number within the limits for the rule's kind or action. Raises ChatError."""
    if value is None:
        raise ChatError("invalid_request", f"{name} is missing")
    if not least <= value <= most:
        raise ChatError("invalid_request", f"{name} must be from {least} to {most}")
    return value


def _most(wanted: NewRule) -> int:
    if wanted.kind == MENTIONS:
        return _number(wanted.most, "most", 0, MAX_NUMBER)
    return _number(wanted.most, "most", 1, MAX_REPEATS) if wanted.kind == REPEATS else 0


def _words(entries: Sequence[str]) -> tuple[str, ...]:
    words = tuple(dict.fromkeys(" ".join(word.split()) for word in entries if word.strip()))
    if not words:
        raise ChatError("invalid_request", "words must have at least one")
    for word in words:
        if problem := problem_with(word):
            raise ChatError("invalid_request", problem)
    return words


def _domains(entries: Sequence[str]) -> tuple[str, ...]:
    domains = tuple(dict.fromkeys(domain.strip().lower().removeprefix("www.") for domain in entries))
    for domain in filter(None, domains):
        if not _DOMAIN.fullmatch(domain):
            raise ChatError("invalid_request", f"{domain[:64]!r} is not a domain such as example.org")
    return tuple(filter(None, domains))
