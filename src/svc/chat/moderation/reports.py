"""Reports: what members, and the server's own rules, tell those who moderate about a member or a message.

A report about a message is seen by those who may view its channel and nobody else. No HTTP, no SQL.
"""

import dataclasses
from collections.abc import Awaitable, Callable

from svc.base.database import Act, Connection
from svc.chat.access.acts import follows_rules
from svc.chat.access.permissions import Permission
from svc.chat.errors import ChatError
from svc.chat.ground import Ground
from svc.chat.live.hub import Only
from svc.chat.moderation import store
from svc.chat.moderation.report import Report, ReportedWebhook, Revealed
from svc.chat.moderation.store import WantedReports

# So that nobody buries the others' reports under their own.
MAX_OPEN_OF_ONE = 20

# So that somebody who writes a lot that a rule marks does not bury them either.
MAX_OPEN_OF_SERVER = 20


@dataclasses.dataclass(frozen=True, slots=True)
class About:
    """Whom a report is about: a member, or a webhook by the name it posted under."""

    id: str
    webhook: str | None = None


# Who wrote a message, for a member who asks, by channel and message. Raises ChatError when there is
# none that they may see.
AuthorOf = Callable[[str, str, str], Awaitable[About]]


class Reports:
    """`new_id` makes the id of a new report."""

    def __init__(self, ground: Ground, author_of: AuthorOf) -> None:
        self._database, self._directory, self._hub = ground.database, ground.directory, ground.hub
        self._audit, self._new_id = ground.audit, ground.new_id
        self._author_of = author_of

    async def about_member(self, reporter_id: str, member_id: str, text: str, now: float) -> Report:
        return await self._file(self._report(reporter_id, About(member_id), None, None, text, now))

    async def about_message(
        self, reporter_id: str, channel_id: str, message_id: str, text: str, now: float
    ) -> Report:
        author = await self._author_of(reporter_id, channel_id, message_id)
        return await self._file(self._report(reporter_id, author, channel_id, message_id, text, now))

    async def about_private(
        self, reporter_id: str, author_id: str, text: str, revealed: Revealed, now: float
    ) -> str:
        """About a private message that was verified before; the id of the report."""
        report = self._report(reporter_id, About(author_id), None, None, text, now)
        return (await self._file(dataclasses.replace(report, private=revealed))).id

    async def page(self, asker_id: str, wanted: WantedReports, limit: int) -> tuple[list[Report], str | None]:
        """Reports, newest first, and what to ask for `before` to go on."""
        found = await store.reports(self._database, wanted, limit + 1, self._channels_of(asker_id))
        page = found[:limit]
        return page, page[-1].id if len(found) > limit else None

    @follows_rules
    def resolve(self, actor_id: str, report_id: str, note: str, now: float) -> Act[Report, None]:
        """Somebody has seen to it; of several at once, the first."""

        def write(connection: Connection) -> Report:
            report = store.report(connection, report_id)
            if report is None or not self._may_know(actor_id, report):
                raise ChatError("unknown_report")
            if report.resolved_at_ms is not None:
                raise ChatError("already_resolved")
            store.resolve(connection, report_id, actor_id, note, int(now * 1000))
            details: dict[str, object] = {"member_id": report.member_id, "note": note}
            if report.webhook is not None:
                details = {"nickname": report.webhook.name, "note": note}
            if report.channel_id is not None:
                details["channel_id"] = report.channel_id
            self._audit.record(connection, actor_id, "report_resolve", report_id, details, now)
            return report

        return Act(write, lambda report: self._resolved(report, actor_id))

    def found_by_rule(
        self, about: About, channel_id: str, message_id: str | None, rule: str | None, text: str, now: float
    ) -> "Filing":
        """What the server itself has to say; `rule` is None where it was `profanityMode`."""
        report = self._report(None, about, channel_id, message_id, text, now)
        return Filing(self, dataclasses.replace(report, rule=rule))

    def _report(
        self,
        reporter_id: str | None,
        about: About,
        channel_id: str | None,
        message_id: str | None,
        text: str,
        now: float,
    ) -> Report:
        return Report(
            id=self._new_id(),
            reporter_id=reporter_id,
            rule=None,
            member_id=about.id if about.webhook is None else None,
            webhook=None if about.webhook is None else ReportedWebhook(about.id, about.webhook),
            private=None,
            channel_id=channel_id,
            message_id=message_id,
            text=text,
            created_at_ms=int(now * 1000),
            resolved_at_ms=None,
            resolved_by=None,
            note="",
        )

    @follows_rules
    def _file(self, report: Report) -> Act[None, Report]:
        reporter_id = report.reporter_id
        assert reporter_id is not None, "a member files it"
        if report.channel_id is not None:
            self._directory.channel(reporter_id, report.channel_id)
        elif report.private is None:
            self._directory.member(report.author_id)

        def write(connection: Connection) -> None:
            if store.count_open(connection, reporter_id) >= MAX_OPEN_OF_ONE:
                raise ChatError("too_many")
            store.insert_report(connection, report)

        return Act(write, lambda _: self.tell(report))

    def tell(self, report: Report) -> Report:
        """Those who may see it, now that it is filed."""
        self._hub.push("report_created", report, self._concerned(report))
        return report

    def _resolved(self, report: Report, actor_id: str) -> None:
        told = {"report_id": report.id, "resolved_by": actor_id}
        self._hub.push("report_resolved", told, self._concerned(report))

    def _concerned(self, report: Report) -> Only:
        """Those who may know of it."""
        told = frozenset(self._directory.holders(Permission.VIEW_REPORTS))
        if report.channel_id is not None:
            told &= self._directory.viewers(report.channel_id)
        return Only(told)

    def _may_know(self, member_id: str, report: Report) -> bool:
        seen = self._channels_of(member_id)
        return report.channel_id is None or seen is None or report.channel_id in seen

    def _channels_of(self, member_id: str) -> list[str] | None:
        """In which channels a member may know of reports; None for the owner, who may in all."""
        if self._directory.is_owner(member_id):
            return None
        return [channel.id for channel in self._directory.visible_channels(member_id)]


class Filing:
    """A report of the server's own, filed in the write that it is about."""

    def __init__(self, reports: Reports, report: Report) -> None:
        self._reports = reports
        self._report = report
        self._written = False

    def write(self, connection: Connection) -> None:
        """A step of the write; `filed` follows. Nothing where enough of the kind wait already."""
        about, message_id = self._report.author_id, self._report.message_id
        if message_id is not None and store.is_open_about(connection, about, message_id):
            return
        self._written = store.count_open_of_server(connection, about) < MAX_OPEN_OF_SERVER
        if self._written:
            store.insert_report(connection, self._report)

    def filed(self) -> None:
        if self._written:
            self._reports.tell(self._report)
