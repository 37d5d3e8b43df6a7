"""What a report is, and the answer to whoever has filed one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from svc.chat.described import Id, TimeMs

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
    # The name that the rule had which has found the message.
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

    @property
    def author_id(self) -> str:
        """Of the member or of the webhook."""
        author_id = self.member_id if self.webhook is None else self.webhook.id
        assert author_id is not None, "somebody wrote it"
        return author_id


@dataclass(frozen=True, slots=True)
class Reported:
    id: Id
