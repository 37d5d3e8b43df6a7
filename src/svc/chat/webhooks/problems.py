"""What is wrong with a payload, and what was left out of it: `Problem`, `PayloadWarning`, and both
collected while it is read.

A sender matches on `code`; `path` points into the JSON that was sent. Knows no rule.
docs/webhooks.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from svc.chat.webhooks.limits import MAX_PROBLEMS, MAX_SHOWN_KEY, MAX_UNKNOWN_KEYS

# Every code of a problem, and what people are told; `{limit}` is the problem's own.
PROBLEM_CODES: Mapping[str, str] = {
    "required": "This is needed, and must hold more than spaces",
    "wrong_type": "This is the wrong kind of value",
    "too_long": "At most {limit} characters",
    "too_many": "At most {limit}",
    "invalid_url": "Must be an http or https URL",
    "invalid_color": "Must be #rrggbb or a whole number from 0 to 16777215",
    "invalid_timestamp": "Must be ISO 8601 with a time zone, such as 2026-01-31T12:00:00Z",
    "empty_card": "A card has at least one of title, description, fields, image_url and author",
    "total_too_long": "The texts of all cards have at most {limit} characters together",
    "invalid_format": "A string must hold no NUL and no half of a surrogate pair",
    "invalid": "This cannot be taken",
}
UNKNOWN_KEY = "unknown_key"


@dataclass(frozen=True, slots=True)
class Problem:
    path: str
    code: str
    limit: int | None = None
    # In place of what the code says; for people.
    words: str = ""

    def described(self) -> dict[str, object]:
        message = self.words or PROBLEM_CODES[self.code].format(limit=self.limit)
        told: dict[str, object] = {"path": self.path, "code": self.code, "message": message}
        return told if self.limit is None else {**told, "limit": self.limit}


@dataclass(frozen=True, slots=True)
class PayloadWarning:
    """Something was left out; the rest was posted."""

    path: str
    code: str
    message: str


@dataclass(slots=True)
class Findings:
    """What reading a payload has brought up so far; bounded, the first are kept."""

    problems: list[Problem] = field(default_factory=list)
    warnings: list[PayloadWarning] = field(default_factory=list)
    # Of all texts that count toward the limit on those of all cards.
    characters: int = 0

    def problem(self, path: str, code: str, limit: int | None = None, words: str = "") -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(path, code, limit, words))

    def unknown_key(self, path: str, key: str) -> None:
        if len(self.warnings) < MAX_UNKNOWN_KEYS:
            where = inside(path, _showable(key))
            self.warnings.append(PayloadWarning(where, UNKNOWN_KEY, "This key is not known and was ignored"))


def inside(path: str, key: str) -> str:
    """The path of a key of the object at `path`."""
    return f"{path}.{key}" if path else key


def _showable(key: str) -> str:
    """A key that was sent, short, and such that it can be sent back."""
    return key[:MAX_SHOWN_KEY].encode("utf-8", "replace").decode()
