"""What the owner can set, and which values each setting takes: one table.

Checks and compares; stores nothing. Spec: chat document section 2.9.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

INVITE, OPEN = "invite", "open"
_SWITCH: Mapping[object, object] = {True: True, False: False, "on": True, "off": False}


def _one_of(*choices: str) -> Mapping[object, object]:
    return {choice: choice for choice in choices}


@dataclass(frozen=True, slots=True)
class Values:
    """All settings, under the names that they have on the wire."""

    joinPolicy: str = INVITE
    discoverable: bool = False
    lanOpen: bool = False
    profanityMode: str = "off"

    def described(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def public(self) -> dict[str, object]:
        """What everybody is told."""
        return {name: value for name, value in self.described().items() if name in PUBLIC}

    def changed(self, changes: Mapping[str, object]) -> "Values":
        """`changes` have been checked."""
        return replace(self, **changes)  # type: ignore[arg-type]


# What a request may say for each setting, and the value that it means.
ACCEPTED: Mapping[str, Mapping[object, object]] = {
    "joinPolicy": _one_of(INVITE, OPEN),
    "discoverable": _SWITCH,
    "lanOpen": _SWITCH,
    "profanityMode": _one_of("off", "flag", "censor", "block"),
}
# `/info` says these to anybody.
PUBLIC = frozenset({"joinPolicy", "lanOpen"})
MAX_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Problem:
    path: str
    code: str
    message: str

    def described(self) -> dict[str, str]:
        return {"path": self.path, "code": self.code, "message": self.message}


def read(changes: Mapping[str, object]) -> tuple[dict[str, object], list[Problem]]:
    """The values that a request means, and everything that is wrong with it."""
    values: dict[str, object] = {}
    problems: list[Problem] = []
    for name, wanted in changes.items():
        accepted = ACCEPTED.get(name)
        if accepted is None:
            problems.append(Problem(name[:64], "unknown_key", "There is no such setting"))
        elif isinstance(wanted, str | bool) and wanted in accepted:
            values[name] = accepted[wanted]
        else:
            kind = "invalid" if isinstance(wanted, str) else "wrong_type"
            choices = ", ".join(str(choice).lower() for choice in accepted)
            problems.append(Problem(name, kind, f"It must be one of: {choices}"))
    return values, problems[:MAX_PROBLEMS]
