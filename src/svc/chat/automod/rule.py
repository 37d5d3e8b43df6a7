"""A rule as somebody writes it: what it looks for, in whose messages, and what becomes of them.

Reads and checks what a request says; looks at no message and stores nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from svc.chat.automod.phrases import problem_with
from svc.chat.errors import ChatError
from svc.chat.fields import MAX_ID_CHARACTERS, Data, flag, number, optional_text, strings, text

# What it looks for.
WORDS, LINKS, MENTIONS, REPEATS, NEWCOMERS = "words", "links", "mentions", "repeats", "newcomers"
KINDS = (WORDS, LINKS, MENTIONS, REPEATS, NEWCOMERS)
# What becomes of a message, the mildest first.
FLAG, CENSOR, BLOCK, TIMEOUT = "flag", "censor", "block", "timeout"
ACTIONS = (FLAG, CENSOR, BLOCK, TIMEOUT)

# All of them are gone through for every message.
MAX_RULES = 20
MAX_NAME = 64
MAX_WORDS, MAX_WORD = 200, 256
MAX_DOMAINS, MAX_DOMAIN = 100, 253
MAX_EXCEPTED = 50
# A message names at most 50; what somebody posts is remembered for an hour at most.
MOST, LEAST_MOST = 49, 0
MOST_REPEATS = 19
WITHIN_S, LEAST_WITHIN_S = 3600, 10
NEWCOMER_S = 30 * 24 * 60 * 60
TIMEOUT_S, LEAST_TIMEOUT_S = 28 * 24 * 60 * 60, 60

_DOMAIN = re.compile(r"(?:[^\s./:@]{1,63}\.){1,8}[^\s./:@]{2,63}|localhost")


@dataclass(frozen=True, slots=True)
class Rule:
    id: str
    name: str
    enabled: bool
    kind: str
    action: str
    words: tuple[str, ...] = ()
    # Of links: domains, and all below them, to which they may lead.
    allowed: tuple[str, ...] = ()
    # So many mentions in a message, or the same text so often within `within_s`, are let through.
    most: int = 0
    within_s: int = 0
    timeout_s: int = 0
    # It is for members of the last so many seconds; 0: for all.
    newcomer_s: int = 0
    except_roles: tuple[str, ...] = ()
    except_channels: tuple[str, ...] = ()
    created_by: str | None = None
    created_at_ms: int = 0

    def described(self) -> dict[str, object]:
        """As those see it who manage rules."""
        return {
            "id": self.id,
            **self.wanted(),
            "created_by": self.created_by,
            "created_at_ms": self.created_at_ms,
        }

    def wanted(self) -> dict[str, object]:
        """As `read` takes it."""
        return {
            "name": self.name,
            "enabled": self.enabled,
            "kind": self.kind,
            "action": self.action,
            "words": list(self.words),
            "allowed": list(self.allowed),
            "most": self.most,
            "within_s": self.within_s,
            "timeout_s": self.timeout_s,
            "newcomer_s": self.newcomer_s,
            "except_roles": list(self.except_roles),
            "except_channels": list(self.except_channels),
        }


def read(data: Data, rule_id: str, created_by: str | None, created_at_ms: int) -> Rule:
    """What a request wants. Raises ChatError."""
    name = text(data, "name", most=MAX_NAME).strip()
    if not name:
        raise ChatError("invalid_request", "name must say something")
    kind, action = _one_of(data, "kind", KINDS), _one_of(data, "action", ACTIONS)
    newcomer_s = number(data, "newcomer_s", least=0, most=NEWCOMER_S, default=0)
    if kind == NEWCOMERS and not newcomer_s:
        raise ChatError("invalid_request", "newcomer_s must say for how long somebody is a newcomer")
    timed = action == TIMEOUT
    repeated = kind == REPEATS
    return Rule(
        id=rule_id,
        name=name,
        enabled=flag(data, "enabled", default=False),
        kind=kind,
        action=action,
        words=_words(data) if kind == WORDS else (),
        allowed=_domains(data) if kind == LINKS else (),
        most=_most(data, kind),
        within_s=number(data, "within_s", least=LEAST_WITHIN_S, most=WITHIN_S) if repeated else 0,
        timeout_s=number(data, "timeout_s", least=LEAST_TIMEOUT_S, most=TIMEOUT_S) if timed else 0,
        newcomer_s=newcomer_s,
        except_roles=_ids(data, "except_roles"),
        except_channels=_ids(data, "except_channels"),
        created_by=created_by,
        created_at_ms=created_at_ms,
    )


def _one_of(data: Mapping[str, object], name: str, choices: tuple[str, ...]) -> str:
    chosen = optional_text(data, name, most=16)
    if chosen not in choices:
        raise ChatError("invalid_request", f"{name} must be one of: {', '.join(choices)}")
    return chosen


def _most(data: Data, kind: str) -> int:
    if kind == MENTIONS:
        return number(data, "most", least=LEAST_MOST, most=MOST)
    return number(data, "most", least=1, most=MOST_REPEATS) if kind == REPEATS else 0


def _words(data: Data) -> tuple[str, ...]:
    given = strings(data, "words", most=MAX_WORDS, most_characters=MAX_WORD)
    words = tuple(dict.fromkeys(" ".join(word.split()) for word in given if word.strip()))
    if not words:
        raise ChatError("invalid_request", "words must have at least one")
    for word in words:
        if problem := problem_with(word):
            raise ChatError("invalid_request", problem)
    return words


def _domains(data: Data) -> tuple[str, ...]:
    given = strings(data, "allowed", most=MAX_DOMAINS, most_characters=MAX_DOMAIN)
    domains = tuple(dict.fromkeys(domain.strip().lower().removeprefix("www.") for domain in given))
    for domain in filter(None, domains):
        if not _DOMAIN.fullmatch(domain):
            raise ChatError("invalid_request", f"{domain[:64]!r} is not a domain such as example.org")
    return tuple(filter(None, domains))


def _ids(data: Data, name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(strings(data, name, most=MAX_EXCEPTED, most_characters=MAX_ID_CHARACTERS)))
