"""The table of settings and their accepted values.

Validates and compares, but stores nothing. docs/http.md, "Settings".
"""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Literal, get_args

from msgspec import Meta

from svc.chat.errors import ChatError
from svc.chat.names import readable_name
from svc.chat.schemas import Id

JoinPolicy = Literal["invite", "open"]
INVITE: JoinPolicy = "invite"
OPEN: JoinPolicy = "open"
ProfanityMode = Literal["off", "flag", "censor", "block"]
_SWITCH: Mapping[object, object] = {True: True, False: False, "on": True, "off": False}


MAX_RETENTION_DAYS = 3_650
RetentionDays = Annotated[int, Meta(ge=0, le=MAX_RETENTION_DAYS)]


@dataclass(frozen=True, slots=True)
class Values:
    """All settings, under their API names."""

    joinPolicy: JoinPolicy = INVITE
    discoverable: bool = False
    lanOpen: bool = False
    profanityMode: ProfanityMode = "off"
    # Whether messages show link previews.
    linkPreviews: bool = True
    # SERVER_NAME and SERVER_DESCRIPTION, unless the owner has set another value.
    name: str = ""
    description: str = ""
    # Rules that newcomers must accept; empty for none.
    rules: str = ""
    # The channel where newcomers arrive, unless their invite names another.
    welcomeChannelId: Id | None = None
    # Days until attachments are deleted; 0 keeps them as long as their messages.
    retentionDays: RetentionDays = 0

    @property
    def rules_version(self) -> str:
        """A hash that changes with the rules; empty without rules."""
        return hashlib.sha256(self.rules.encode()).hexdigest()[:16] if self.rules else ""

    def public(self) -> dict[str, object]:
        """Return the settings that everybody may see."""
        return {name: value for name, value in asdict(self).items() if name in PUBLIC}

    def specified(self) -> dict[str, object]:
        """Return the settings of the specification, section 2.9."""
        return {name: value for name, value in asdict(self).items() if name in SPECIFIED}

    def changed(self, changes: Mapping[str, object]) -> "Values":
        """Return a copy with checked `changes`."""
        return replace(self, **changes)  # type: ignore[arg-type]


# For settings with a fixed choice: the accepted spellings and their values.
ACCEPTED: Mapping[str, Mapping[object, object]] = {
    "joinPolicy": {policy: policy for policy in get_args(JoinPolicy)},
    "discoverable": _SWITCH,
    "lanOpen": _SWITCH,
    "profanityMode": {mode: mode for mode in get_args(ProfanityMode)},
    "linkPreviews": _SWITCH,
}
# For text settings: the maximum length. `null` resets to the default.
MAX_NAME_CHARACTERS = 64
TEXTS: Mapping[str, int] = {
    "name": MAX_NAME_CHARACTERS,
    "description": 500,
    "rules": 4_000,
    "welcomeChannelId": 128,
}
# For whole numbers from 0: the maximum.
NUMBERS: Mapping[str, int] = {"retentionDays": MAX_RETENTION_DAYS}
# The settings that programs for the specification know (section 4.2).
SPECIFIED = ("joinPolicy", "discoverable", "lanOpen", "profanityMode")
# Shown to anybody in `/info`.
PUBLIC = frozenset({"joinPolicy", "lanOpen", "name", "description", "rules"})
MAX_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Problem:
    path: str
    code: str
    message: str


def read(changes: Mapping[str, object]) -> tuple[dict[str, object], list[Problem]]:
    """Validate a request. Return its values and everything that is wrong with it.

    A value of None stands for the default.
    """
    values: dict[str, object] = {}
    problems: list[Problem] = []
    for name, wanted in changes.items():
        try:
            values[name] = _value(name, wanted)
        except _Wrong as wrong:
            problems.append(Problem(name[:64], wrong.code, wrong.message))
    return values, problems[:MAX_PROBLEMS]


class _Wrong(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def _value(name: str, wanted: object) -> object:
    """Validate one value. Raises _Wrong."""
    if name in ACCEPTED:
        return _chosen(ACCEPTED[name], wanted)
    if name in NUMBERS:
        return _number(NUMBERS[name], wanted)
    if name not in TEXTS:
        raise _Wrong("unknown_key", "There is no such setting")
    if wanted is None:
        return None
    return _text(name, TEXTS[name], wanted)


def _chosen(accepted: Mapping[object, object], wanted: object) -> object:
    if isinstance(wanted, str | bool) and wanted in accepted:
        return accepted[wanted]
    kind = "invalid" if isinstance(wanted, str) else "wrong_type"
    choices = ", ".join(str(choice).lower() for choice in accepted)
    raise _Wrong(kind, f"It must be one of: {choices}")


def _number(most: int, wanted: object) -> int:
    # Command lines send numbers as text.
    if isinstance(wanted, str) and wanted.isascii() and wanted.isdigit() and len(wanted) <= 9:
        wanted = int(wanted)
    if isinstance(wanted, bool) or not isinstance(wanted, int):
        raise _Wrong("wrong_type", f"It must be a whole number from 0 to {most}")
    if not 0 <= wanted <= most:
        raise _Wrong("invalid", f"It must be from 0 to {most}")
    return wanted


def _text(name: str, most: int, wanted: object) -> str:
    if not isinstance(wanted, str):
        raise _Wrong("wrong_type", "It must be a string, or null for the default")
    if len(wanted) > most or "\0" in wanted:
        raise _Wrong("invalid", f"It must have at most {most} characters")
    if name == "name":
        try:
            return readable_name(wanted, most)
        except ChatError as refusal:
            raise _Wrong("invalid", refusal.message) from None
    return wanted.strip()
