"""Files and resolves reports about members and messages.

Reports are filed by members, and by the server when a rule matches. A report about a message is visible only
to moderators who may view its channel. This module contains no HTTP code.
"""

import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from svc.base.database import Connection, Write
from svc.base.tables import ColumnType, Table, optional
from svc.chat.access.checked_writes import shared_write
from svc.chat.access.permissions import Permission
from svc.chat.errors import ChatError
from svc.chat.live.hub import PermissionHolders
from svc.chat.moderation.responses import ReportResolved
from svc.chat.schemas import Id, TimeMs
from svc.chat.services import Services

MAX_REASON_CHARACTERS = 500
MAX_REPORT_CHARACTERS = 2000
# The maximum number of open reports by one member, so that nobody can bury the reports of others.
MAX_OPEN_PER_MEMBER = 20
# The maximum number of open reports by the server about one member, so that frequent matches of a rule do not
# bury other reports.
MAX_OPEN_OF_SERVER = 20

Reason = Annotated[str, Meta(max_length=MAX_REASON_CHARACTERS)]


@dataclass(frozen=True, slots=True)
class RevealedMessage:
    """A message in a private conversation, revealed by a recipient and verified by the server."""

    conversation_id: Id
    sent_at_ms: TimeMs
    text: str
    # The names of the message's files.
    files: Sequence[str]


@dataclass(frozen=True, slots=True)
class ReportedWebhook:
    """A reported webhook, with the name under which it posted."""

    id: Id
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    id: Id
    # None if the server filed the report, because of a rule or the list of swear words.
    reporter_id: Id | None = None
    # The matching rule's name at the time of the report.
    rule: str | None = None
    # The author of the message: either `member_id` or `webhook` is set.
    member_id: Id | None = None
    webhook: ReportedWebhook | None = None
    private: RevealedMessage | None = None
    channel_id: Id | None = None
    message_id: Id | None = None
    text: Annotated[str, Meta(max_length=MAX_REPORT_CHARACTERS)]
    created_at_ms: TimeMs
    resolved_at_ms: TimeMs | None = None
    resolved_by: Id | None = None
    note: Reason = ""

    @property
    def author_id(self) -> str:
        """The id of the author, a member or a webhook."""
        author_id = self.member_id if self.webhook is None else self.webhook.id
        assert author_id is not None, "the message has an author"
        return author_id


@dataclass(frozen=True, slots=True)
class ReportFiled:
    id: Id


@dataclass(frozen=True, slots=True)
class ReportSubject:
    """The subject of a report: a member, or a webhook with the name under which it posted."""

    id: str
    webhook: str | None = None


_REVEALED = ColumnType(
    lambda revealed: msgspec.json.encode(revealed).decode(),
    lambda text: msgspec.json.decode(text, type=RevealedMessage),
)
# The column `member_id` contains the author's id. `webhook` contains the author's name if the author is a
# webhook.
_REPORTS = Table("reports", Report, without=("member_id", "webhook"), private=optional(_REVEALED))
_SELECT = f"SELECT {_REPORTS.select()}, member_id, webhook FROM reports"

# Returns the author of a message. The arguments are the requesting member, the channel and the message.
# Raises ChatError if the member cannot see the message.
AuthorOf = Callable[[str, str, str], Awaitable[ReportSubject]]


class Reports:
    """The reports, and the rules for filing and resolving them."""

    def __init__(self, services: Services, author_of: AuthorOf) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._audit, self._new_id = services.audit, services.new_id
        self._author_of = author_of

    async def about_member(self, reporter_id: str, member_id: str, text: str, now: float) -> Report:
        return await self._file(reporter_id, self._report(ReportSubject(member_id), text, now))

    async def about_message(
        self, reporter_id: str, channel_id: str, message_id: str, text: str, now: float
    ) -> Report:
        author = await self._author_of(reporter_id, channel_id, message_id)
        report = self._report(author, text, now, channel_id=channel_id, message_id=message_id)
        return await self._file(reporter_id, report)

    async def about_private(
        self, reporter_id: str, author_id: str, text: str, revealed: RevealedMessage, now: float
    ) -> str:
        """Report a private message whose proof has been verified. Return the report's id."""
        report = self._report(ReportSubject(author_id), text, now, private=revealed)
        return (await self._file(reporter_id, report)).id

    async def page(
        self, asker_id: str, before: str | None, resolved: bool | None, limit: int
    ) -> tuple[list[Report], str | None]:
        """Return a page of reports, newest first, and the `before` value for the next page. If `resolved` is
        None, the page includes both open and resolved reports.
        """
        conditions, values = ["1"], list[object]()
        if before is not None:
            conditions.append("id < ?")
            values.append(before)
        if resolved is not None:
            conditions.append(f"resolved_at_ms IS {'NOT ' if resolved else ''}NULL")
        if (channels := self._channels_of(asker_id)) is not None:
            conditions.append(f"(channel_id IS NULL OR channel_id IN ({','.join('?' * len(channels))}))")
            values += channels
        sql = f"{_SELECT} WHERE {' AND '.join(conditions)} ORDER BY id DESC LIMIT ?"
        reports = [_read(row) for row in await self._database.rows(sql, (*values, limit + 1))]
        page = reports[:limit]
        return page, page[-1].id if len(reports) > limit else None

    @shared_write
    def resolve(self, actor_id: str, report_id: str, note: str, now: float) -> Write[Report, None]:
        """Resolve a report. Raises ChatError if it is already resolved."""

        def write(connection: Connection) -> Report:
            row = connection.execute(f"{_SELECT} WHERE id = ?", (report_id,)).fetchone()
            if row is None or not self._may_know(actor_id, report := _read(row)):
                raise ChatError("unknown_report")
            if report.resolved_at_ms is not None:
                raise ChatError("already_resolved")
            resolved = {"resolved_at_ms": int(now * 1000), "resolved_by": actor_id, "note": note}
            _REPORTS.edit(connection, resolved, id=report_id)
            details: dict[str, object] = {"member_id": report.member_id, "note": note}
            if report.webhook is not None:
                details = {"nickname": report.webhook.name, "note": note}
            if report.channel_id is not None:
                details["channel_id"] = report.channel_id
            self._audit.record(connection, actor_id, "report_resolve", report_id, details, now)
            return report

        def announce(report: Report) -> None:
            resolved = ReportResolved(report.id, actor_id)
            self._hub.push("report_resolved", resolved, self._audience(report))

        return Write(write, announce)

    def found_by_rule(
        self,
        about: ReportSubject,
        channel_id: str,
        message_id: str | None,
        rule: str | None,
        text: str,
        now: float,
    ) -> "AutomaticReport":
        """Prepare a report by the server. `rule` is None if the message was flagged because of
        `profanityMode`.
        """
        location = {"channel_id": channel_id, "message_id": message_id}
        return AutomaticReport(self, self._report(about, text, now, **location, rule=rule))

    def _report(self, about: ReportSubject, text: str, now: float, **more: Any) -> Report:
        author: dict[str, Any] = {"member_id": about.id}
        if about.webhook is not None:
            author = {"webhook": ReportedWebhook(about.id, about.webhook)}
        return Report(id=self._new_id(), text=text, created_at_ms=int(now * 1000), **author, **more)

    @shared_write
    def _file(self, reporter_id: str, draft: Report) -> Write[None, Report]:
        report = dataclasses.replace(draft, reporter_id=reporter_id)
        if report.channel_id is not None:
            self._directory.channel(reporter_id, report.channel_id)
        elif report.private is None:
            self._directory.member(report.author_id)

        def write(connection: Connection) -> None:
            if (
                _REPORTS.count(connection, reporter_id=reporter_id, resolved_at_ms=None)
                >= MAX_OPEN_PER_MEMBER
            ):
                raise ChatError("too_many")
            _insert(connection, report)

        return Write(write, lambda _: self.notify(report))

    def notify(self, report: Report) -> Report:
        """Push a new report to all members who may see it."""
        self._hub.push("report_created", report, self._audience(report))
        return report

    def _audience(self, report: Report) -> PermissionHolders:
        """Return the audience for a report. It is evaluated again for each replay."""
        if report.channel_id is None:
            return PermissionHolders(Permission.VIEW_REPORTS)
        return PermissionHolders(Permission.VIEW_REPORTS | Permission.VIEW_CHANNEL, report.channel_id)

    def _may_know(self, member_id: str, report: Report) -> bool:
        channels = self._channels_of(member_id)
        return report.channel_id is None or channels is None or report.channel_id in channels

    def _channels_of(self, member_id: str) -> list[str] | None:
        """Return the ids of the channels whose reports a member may see, or None for the owner, who may see
        all reports.
        """
        if self._directory.is_owner(member_id):
            return None
        return [channel.id for channel in self._directory.visible_channels(member_id)]


class AutomaticReport:
    """A report by the server, stored in the same transaction as the message."""

    def __init__(self, reports: Reports, report: Report) -> None:
        self._reports = reports
        self._report = report
        self._written = False

    def write(self, connection: Connection) -> None:
        """Store the report, unless a report about this message or too many reports about the author are
        already open.

        Call this within the message's write transaction, and `filed` after it.
        """
        message_id = self._report.message_id
        waiting = {"member_id": self._report.author_id, "reporter_id": None, "resolved_at_ms": None}
        if message_id is not None and _REPORTS.has(connection, **waiting, message_id=message_id):
            return
        self._written = _REPORTS.count(connection, **waiting) < MAX_OPEN_OF_SERVER
        if self._written:
            _insert(connection, self._report)

    def filed(self) -> None:
        if self._written:
            self._reports.notify(self._report)


def _insert(connection: Connection, report: Report) -> None:
    webhook = None if report.webhook is None else report.webhook.name
    _REPORTS.insert(connection, report, member_id=report.author_id, webhook=webhook)


def _read(row: Sequence[Any]) -> Report:
    *kept, author_id, name = row
    if name is None:
        return _REPORTS.read(kept, member_id=author_id)
    return _REPORTS.read(kept, webhook=ReportedWebhook(author_id, name))
