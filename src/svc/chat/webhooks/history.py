"""What became of the last posts to each webhook, for whoever manages it.

Kept in memory, a few of each, and forgotten by a restart: a flood of bad posts costs no write. Of a post that
was refused it keeps why, never what was in it. Reads no clock; only webhooks that exist are asked about,
which bounds the memory.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from msgspec import Meta

from svc.chat.fields import Id, TimeMs

MAX_KEPT = 20
# The first few say enough; a path may hold a key that a stranger has made up.
MAX_NAMED, MAX_PATH = 5, 64


@dataclass(frozen=True, slots=True)
class NamedProblem:
    path: str
    code: str


@dataclass(frozen=True, slots=True)
class Attempt:
    at_ms: TimeMs
    outcome: Literal["posted", "refused", "ignored"]
    # Why it was refused: a code of `errors`.
    error: str | None = None
    message_id: Id | None = None
    channel_id: Id | None = None
    # What was wrong, or left out.
    named: Annotated[tuple[NamedProblem, ...], Meta(max_length=MAX_NAMED)] = ()
    # As often in a row; `at_ms` is the last time.
    times: Annotated[int, Meta(ge=1)] = 1


class PostHistory:
    """Times are milliseconds since 1970."""

    def __init__(self) -> None:
        self._by_webhook: dict[str, deque[Attempt]] = {}

    def note(self, webhook_id: str, attempt: Attempt) -> None:
        kept = self._by_webhook.setdefault(webhook_id, deque(maxlen=MAX_KEPT))
        # Whoever goes on posting too fast does not push out everything else.
        if kept and attempt.outcome != "posted" and _alike(kept[-1], attempt):
            kept[-1] = replace(attempt, times=kept[-1].times + 1)
        else:
            kept.append(attempt)

    def of(self, webhook_id: str) -> list[Attempt]:
        """The newest first."""
        return [*reversed(self._by_webhook.get(webhook_id, ()))]

    def forget(self, webhook_id: str) -> None:
        """The webhook is gone."""
        self._by_webhook.pop(webhook_id, None)


def named(found: Sequence[Mapping[str, object]]) -> tuple[NamedProblem, ...]:
    """Of problems or warnings as they are told: the first few, without their words."""
    return tuple(NamedProblem(str(each["path"])[:MAX_PATH], str(each["code"])) for each in found[:MAX_NAMED])


def _alike(one: Attempt, other: Attempt) -> bool:
    return (one.outcome, one.error, one.named) == (other.outcome, other.error, other.named)
