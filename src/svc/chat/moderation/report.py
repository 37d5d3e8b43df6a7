"""What a report is: as it is kept, and as those who moderate see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from svc.chat.fields import Id, TimeMs

MAX_REASON_CHARACTERS = 500
MAX_REPORT_CHARACTERS = 2000

Reason = Annotated[str, Meta(max_length=MAX_REASON_CHARACTERS)]


@dataclass(frozen=True, slots=True)
class Revealed:
    """A message of a private conversation: a recipient has revealed it, the server has verified it."""

    conversation_id: Id
    sent_at_ms: TimeMs
    text: str
    # Their names.
    files: Sequence[str]


@dataclass(frozen=True, slots=True)
class ReportedWebhook:
    """By the name under which it posted."""

    id: Id
    name: str


@dataclass(frozen=True, slots=True)
class Report:
    id: Id
    # None: the server itself, which has found the message by a rule or by its list of bad words.
    reporter_id: Id | None
    rule: str | None
    # One of the two, the other None: who wrote it.
    member_id: Id | None
    webhook: ReportedWebhook | None
    private: Revealed | None
    channel_id: Id | None
    message_id: Id | None
    text: Annotated[str, Meta(max_length=MAX_REPORT_CHARACTERS)]
    created_at_ms: TimeMs
    resolved_at_ms: TimeMs | None
    resolved_by: Id | None
    note: Reason


@dataclass(frozen=True, slots=True)
class KeptReport:
    id: str
    # None: the server itself, by a rule or by `profanityMode`.
    reporter_id: str | None
    member_id: str
    channel_id: str | None
    message_id: str | None
    text: str
    created_at_ms: int
    resolved_at_ms: int | None = None
    resolved_by: str | None = None
    note: str = ""
    # The name that the rule had which has found the message.
    rule: str | None = None
    # The name under which a webhook posted it; `member_id` is the webhook's id then.
    webhook: str | None = None
    private: Revealed | None = None

    def shown(self) -> Report:
        return Report(
            id=self.id,
            reporter_id=self.reporter_id,
            rule=self.rule,
            member_id=self.member_id if self.webhook is None else None,
            webhook=None if self.webhook is None else ReportedWebhook(self.member_id, self.webhook),
            private=self.private,
            channel_id=self.channel_id,
            message_id=self.message_id,
            text=self.text,
            created_at_ms=self.created_at_ms,
            resolved_at_ms=self.resolved_at_ms,
            resolved_by=self.resolved_by,
            note=self.note,
        )
