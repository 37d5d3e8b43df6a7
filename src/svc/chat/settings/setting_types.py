"""Defines the settings and their accepted values.

This module validates values, but stores nothing. See docs/http.md, "Settings".
"""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Literal, get_args

from msgspec import UNSET, Meta, UnsetType, ValidationError, convert

from svc.base.validation import problem_of
from svc.chat.endpoints import Request
from svc.chat.errors import ChatError
from svc.chat.names import readable_name
from svc.chat.schemas import Id

JoinMode = Literal["invite", "open"]
INVITE: JoinMode = "invite"
OPEN: JoinMode = "open"
ProfanityMode = Literal["off", "flag", "censor", "block"]
MAX_RETENTION_DAYS = 3_650
RetentionDays = Annotated[int, Meta(ge=0, le=MAX_RETENTION_DAYS)]


@dataclass(frozen=True, slots=True)
class Values:
    """All settings, under their API names."""

    joinPolicy: JoinMode = INVITE
    discoverable: bool = False
    lanOpen: bool = False
    profanityMode: ProfanityMode = "off"
    # Whether messages show link previews.
    linkPreviews: bool = True
    # SERVER_NAME and SERVER_DESCRIPTION, unless the owner has set others.
    name: str = ""
    description: str = ""
    # The rules that new members must accept, or empty.
    rules: str = ""
    # The channel that opens for new members, unless their invite specifies another.
    welcomeChannelId: Id | None = None
    # The number of days after which attachments are deleted. 0 means that they are deleted only together with
    # their messages.
    retentionDays: RetentionDays = 0

    @property
    def rules_version(self) -> str:
        """A hash of the rules, or empty if there are none."""
        return hashlib.sha256(self.rules.encode()).hexdigest()[:16] if self.rules else ""

    def public(self) -> dict[str, object]:
        """Return the settings that everyone may see."""
        return {name: value for name, value in asdict(self).items() if name in PUBLIC}

    def specified_settings(self) -> dict[str, object]:
        """Return the settings defined by the specification (section 2.9)."""
        return {name: value for name, value in asdict(self).items() if name in SPECIFIED}

    def with_changes(self, changes: Mapping[str, object]) -> "Values":
        """Return a copy with `changes`, which must have been validated."""
        return replace(self, **changes)  # type: ignore[arg-type]


MAX_NAME_CHARACTERS = 64
# Switches and numbers may be strings, because the command line sends strings.
_Switch = bool | Literal["on", "off"]
_Digits = Annotated[str, Meta(min_length=1, max_length=9, pattern="^[0-9]+$")]


class SettingsChanges(Request, forbid_unknown_fields=True):
    """Settings to change. Null resets a string setting to its default."""

    joinPolicy: JoinMode | UnsetType = UNSET
    discoverable: _Switch | UnsetType = UNSET
    lanOpen: _Switch | UnsetType = UNSET
    profanityMode: ProfanityMode | UnsetType = UNSET
    linkPreviews: _Switch | UnsetType = UNSET
    name: Annotated[str, Meta(max_length=MAX_NAME_CHARACTERS)] | UnsetType | None = UNSET
    description: Annotated[str, Meta(max_length=500)] | UnsetType | None = UNSET
    rules: Annotated[str, Meta(max_length=4_000)] | UnsetType | None = UNSET
    welcomeChannelId: Annotated[str, Meta(max_length=128)] | UnsetType | None = UNSET
    retentionDays: RetentionDays | _Digits | UnsetType = UNSET


_SWITCHES = ("discoverable", "lanOpen", "linkPreviews")
# The accepted values of settings with a fixed set, for error messages.
_CHOICES = {
    "joinPolicy": ", ".join(get_args(JoinMode)),
    "profanityMode": ", ".join(get_args(ProfanityMode)),
    **dict.fromkeys(_SWITCHES, "true, false, on, off"),
}
# The settings known to programs written for the specification (section 4.2).
SPECIFIED = ("joinPolicy", "discoverable", "lanOpen", "profanityMode")
# The settings that `/info` returns to anyone.
PUBLIC = frozenset({"joinPolicy", "lanOpen", "name", "description", "rules"})
MAX_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Problem:
    path: str
    code: str
    message: str


def read(changes: Mapping[str, object]) -> tuple[dict[str, object], list[Problem]]:
    """Validate changes to settings. Return the new values, and a list of the problems.

    A value of None resets a setting to its default.
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
    try:
        value = getattr(convert({name: wanted}, SettingsChanges), name)
    except ValidationError as error:
        raise _wrong(name, wanted, error) from None
    if name == "retentionDays":
        return _value(name, int(value)) if isinstance(value, str) else value
    if value in ("on", "off") and name in _SWITCHES:
        return value == "on"
    return _text(name, value) if isinstance(value, str) else value


def _wrong(name: str, wanted: object, error: ValidationError) -> "_Wrong":
    """Return our message for a value that msgspec rejects."""
    if name not in SettingsChanges.__struct_fields__:
        return _Wrong("unknown_key", "There is no such setting")
    if name == "retentionDays":
        if type(wanted) is int:
            return _Wrong("invalid", f"It must be from 0 to {MAX_RETENTION_DAYS}")
        return _Wrong("wrong_type", f"It must be a whole number from 0 to {MAX_RETENTION_DAYS}")
    if choices := _CHOICES.get(name):
        code = "invalid" if isinstance(wanted, str) else "wrong_type"
        return _Wrong(code, f"It must be one of: {choices}")
    if not isinstance(wanted, str):
        return _Wrong("wrong_type", "It must be a string, or null for the default")
    return _Wrong("invalid", f"It {problem_of(error, SettingsChanges).removeprefix(f'{name} ')}")


def _text(name: str, wanted: str) -> str:
    if "\0" in wanted:
        raise _Wrong("invalid", "It must not contain NUL characters")
    if name == "name":
        try:
            return readable_name(wanted, MAX_NAME_CHARACTERS)
        except ChatError as refusal:
            raise _Wrong("invalid", refusal.message) from None
    return wanted.strip()
