"""Stores automod rules and checks messages against the rules that apply. Contains no HTTP code.

Rules apply to new and edited messages from members, including bots. A rule acts on behalf of the server, so
ranks do not matter. Moderators are exempt: members with one of the permissions in `_MODERATORS`, and anyone
who may manage messages in the channel. Webhook messages are exempt too: the person who hands out a webhook's
URL is responsible for them, and `profanityMode` still applies. If several rules match, a timeout takes
precedence over a rejection. If neither applies, the matches of all censoring rules are censored. Audit log
entries for actions by rules have no actor.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

from msgspec import structs

from svc.base.database import Connection, Write
from svc.base.strict_json import dumps
from svc.base.tables import Table
from svc.base.time_slices import TimeSlices, Work
from svc.chat.access.checked_writes import exclusive_write, shared_write
from svc.chat.access.directory import Member
from svc.chat.access.permissions import Permission
from svc.chat.automod.detector import CheckedText, RecentMessages, RuleMatcher
from svc.chat.automod.pattern_matcher import STEP_LIMIT
from svc.chat.automod.responses import TRIAL_MESSAGES, TRIAL_SHOWN, FoundMessage, RuleDeleted, RuleTest
from svc.chat.automod.rule_definition import (
    BLOCK,
    CENSOR,
    FLAG,
    MAX_RULES,
    TIMEOUT,
    NewRule,
    Rule,
    build_rule,
)
from svc.chat.endpoints import parse_json
from svc.chat.errors import ChatError
from svc.chat.live.hub import PermissionHolders
from svc.chat.messages.message import WEBHOOK, Author, Message
from svc.chat.messages.ports import Ruling
from svc.chat.messages.profanity import OFF, ScannedText, Span, merge_spans
from svc.chat.moderation.reports import AutomaticReport, Reports, ReportSubject
from svc.chat.moderation.rules import Moderation
from svc.chat.services import Services

logger = logging.getLogger(__name__)

# The timeouts for searching a message and for an entire test of a rule. They matter only when many members
# post at the same time.
SEARCH_DEADLINE_S, TRIAL_DEADLINE_S = 20.0, 20.0
# The maximum number of characters that a report quotes from the matches.
MAX_QUOTED = 200
# The audience of events about rules.
_MANAGERS = PermissionHolders(Permission.MANAGE_AUTOMOD)
# Members with one of these permissions are moderators, so rules do not apply to their messages.
_MODERATORS = (
    Permission.MANAGE_AUTOMOD | Permission.TIMEOUT_MEMBERS | Permission.KICK_MEMBERS | Permission.BAN_MEMBERS
)


class Verdict(Ruling, frozen=True):
    """A ruling on a message. `rule` is None unless exactly one rule is responsible."""

    checked: CheckedText | None = None
    rule: Rule | None = None
    matches: Sequence[Span] = ()


class _StoredRule(NewRule):
    # Whether the server disabled the rule because its patterns take too long.
    too_slow: bool | None = None


@dataclass(frozen=True, slots=True)
class _RuleRow:
    """A stored rule. `wanted` is the request that created it, as JSON."""

    id: str
    wanted: str
    created_by: str | None
    created_at_ms: int


_RULE_TABLE = Table("automod_rules", _RuleRow)

# Returns up to the given number of the latest messages from members, oldest first.
Latest = Callable[[int], Awaitable[Sequence[Message]]]


class Automod:
    """The automod rules. `profanity_mode` returns the value of the owner's `profanityMode` setting."""

    def __init__(
        self,
        services: Services,
        reports: Reports,
        moderation: Moderation,
        profanity_mode: Callable[[], str],
    ) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._audit, self._new_id = services.audit, services.new_id
        self._reports = reports
        self._moderation = moderation
        self._rules: dict[str, Rule] = {}
        self._finders: list[RuleMatcher] = []
        self._recent = RecentMessages()
        self._profanity_mode = profanity_mode
        # Time slices are measured in CPU time, so that load from other processes does not count against a
        # short message.
        self._slices = TimeSlices(time.thread_time)
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._one_trial_at_a_time = asyncio.Lock()

    async def load(self, now: float) -> None:
        for kept in await _RULE_TABLE.all(self._database, "ORDER BY id LIMIT ?", MAX_RULES):
            # Another version of the server may have stored a rule that this version rejects.
            with suppress(ChatError):
                wanted = parse_json(kept.wanted.encode(), _StoredRule)
                rule = build_rule(wanted, kept.id, kept.created_by, kept.created_at_ms)
                self._rules[kept.id] = replace(rule, too_slow=bool(wanted.too_slow))
        await self._switch_off_excess(now)
        self._make_ready()

    # Requests from members who manage rules.

    def all(self) -> list[Rule]:
        """Return the rules, oldest first."""
        return sorted(self._rules.values(), key=lambda rule: rule.id)

    @exclusive_write
    def create(self, actor_id: str, wanted: NewRule, now: float) -> Write[None, Rule]:
        rule = build_rule(wanted, self._new_id(), actor_id, int(now * 1000))
        self._require_may_switch_on(actor_id, rule)
        self._require_within_limit(rule)

        def write(connection: Connection) -> None:
            if _RULE_TABLE.count(connection) >= MAX_RULES:
                raise ChatError("too_many")
            written = dumps(rule.definition()).decode()
            _RULE_TABLE.insert(connection, _RuleRow(rule.id, written, actor_id, rule.created_at_ms))
            details = {"name": rule.name, "enabled": rule.enabled}
            self._audit.record(connection, actor_id, "rule_create", rule.id, details, now)

        def created(_: None) -> Rule:
            self._put(rule)
            self._hub.push("rule_created", rule, _MANAGERS)
            return rule

        return Write(write, created)

    @exclusive_write
    def edit(self, actor_id: str, rule_id: str, wanted: NewRule, now: float) -> Write[None, Rule]:
        before = self._require_rule(rule_id)
        after = build_rule(wanted, rule_id, before.created_by, before.created_at_ms)
        self._require_may_switch_on(actor_id, after)
        self._require_within_limit(after)
        was, now_wanted = before.definition(), after.definition()
        changed = [name for name in was if now_wanted[name] != was[name]]
        written = bool(changed) or before.too_slow

        def write(connection: Connection) -> None:
            if written:
                _RULE_TABLE.edit(connection, {"wanted": dumps(now_wanted).decode()}, id=rule_id)
                details: dict[str, object] = {"name": after.name, "changed": changed}
                if "enabled" in changed:
                    details["enabled"] = {"before": before.enabled, "after": after.enabled}
                self._audit.record(connection, actor_id, "rule_edit", rule_id, details, now)

        def edited(_: None) -> Rule:
            if written:
                self._put(after)
                self._hub.push("rule_updated", after, _MANAGERS)
            return after

        return Write(write, edited)

    @exclusive_write
    def delete(self, actor_id: str, rule_id: str, now: float) -> Write[None, None]:
        rule = self._require_rule(rule_id)

        def write(connection: Connection) -> None:
            _RULE_TABLE.delete(connection, id=rule_id)
            self._audit.record(connection, actor_id, "rule_delete", rule_id, {"name": rule.name}, now)

        def deleted(_: None) -> None:
            self._rules.pop(rule_id, None)
            self._make_ready()
            self._hub.push("rule_deleted", RuleDeleted(rule_id), _MANAGERS)

        return Write(write, deleted)

    async def trial(self, actor_id: str, wanted: NewRule, latest: Latest, now: float) -> RuleTest:
        """Return the matches for a rule among the latest messages, newest first.

        Takes no action against the authors. The test is recorded in the audit log, because it reveals who
        wrote which message. Raises ChatError.
        """
        rule = replace(build_rule(wanted, "", actor_id, 0), enabled=True)
        self._require_within_limit(rule)
        await self._record_trial(actor_id, rule, now)
        try:
            async with asyncio.timeout(TRIAL_DEADLINE_S), self._one_trial_at_a_time:
                return await self._try(actor_id, RuleMatcher(rule), await latest(TRIAL_MESSAGES))
        except TimeoutError:
            advice = "The trial takes too long. Try again later, or with fewer or shorter patterns"
            raise ChatError("too_slow", advice) from None

    async def _try(self, actor_id: str, finder: RuleMatcher, messages: Sequence[Message]) -> RuleTest:
        caught: list[FoundMessage] = []
        recent, views = RecentMessages(), self._directory.has_permission
        for message in messages:
            author, at = self._directory.members.get(message.author.id), message.posted_at_ms / 1000
            checked = CheckedText(message.author.id, message.channel_id, ScannedText(message.text))
            is_for = self._is_for(finder.rule, author, checked.channel_id, at)
            # Search on a thread: each search takes milliseconds, so together they would block the event loop.
            spans = await asyncio.to_thread(finder.find, checked, recent, at) if is_for else None
            recent.posted(checked, at)
            if spans is not None and views(actor_id, Permission.VIEW_CHANNEL, message.channel_id):
                caught.append(_found_message(message, merge_spans(spans)))
        return RuleTest(len(messages), len(caught), caught[: -TRIAL_SHOWN - 1 : -1])

    @shared_write
    def _record_trial(self, actor_id: str, rule: Rule, now: float) -> Write[None, None]:
        def write(connection: Connection) -> None:
            self._audit.record(connection, actor_id, "rule_trial", None, {"name": rule.name}, now)

        return Write(write, lambda _: None)

    # These methods implement `messages.ports.Moderator`.

    async def read(self, member_id: str, text: str) -> ScannedText:
        read = ScannedText(text)
        try:
            # Members take turns, slice by slice. One message per member is searched at a time.
            async with asyncio.timeout(SEARCH_DEADLINE_S), self._turns.setdefault(member_id, asyncio.Lock()):
                await self._slices.finish(self._search(read), SEARCH_DEADLINE_S)
        except TimeoutError:
            raise ChatError(
                "too_slow", "Too many messages are waiting to be checked. Try again later"
            ) from None
        return read

    def _search(self, read: ScannedText) -> Work[None]:
        yield from read.folded()
        if self._profanity_mode() != OFF:
            yield from read.profane()
        for finder in self._finders:
            yield from finder.search(read)

    def judge(self, member_id: str, channel_id: str, read: ScannedText, now: float, *, new: bool) -> Ruling:
        checked = CheckedText(member_id, channel_id, read, new)
        member = self._directory.members.get(member_id)
        self._recent.prune(now)
        matches: list[tuple[Rule, Sequence[Span]]] = []
        for finder in self._finders:
            # Skip rules that were added after the search. They would have to search the whole text in one
            # step.
            if read.has(finder) and self._is_for(finder.rule, member, channel_id, now):
                spans = finder.find(checked, self._recent, now)
                if spans is not None:
                    matches.append((finder.rule, spans))
        return _verdict(checked, matches)

    def case(
        self,
        author: Author,
        channel_id: str,
        message_id: str,
        ruling: Ruling,
        text: str,
        matches: Sequence[Span],
        now: float,
    ) -> AutomaticReport:
        rule = None
        if isinstance(ruling, Verdict) and ruling.rule is not None:
            rule, matches = ruling.rule.name, merge_spans(ruling.matches)
        quoted = _quote(text, matches)
        about = ReportSubject(author.id, author.display_name if author.kind == WEBHOOK else None)
        return self._reports.found_by_rule(about, channel_id, message_id, rule, quoted, now)

    def posted(self, ruling: Ruling, now: float) -> None:
        if isinstance(ruling, Verdict) and ruling.checked is not None:
            self._recent.posted(ruling.checked, now)

    async def refused(self, ruling: Ruling, now: float) -> None:
        if isinstance(ruling, Verdict) and ruling.rule is not None and ruling.rule.action == TIMEOUT:
            # The author might have left.
            with suppress(ChatError):
                await self._time_out(ruling, now)

    @exclusive_write
    def _time_out(self, verdict: Verdict, now: float) -> Write[None, None]:
        """Put the author of a message in timeout, unless the rule has changed."""
        rule, checked = verdict.rule, verdict.checked
        assert rule is not None and checked is not None, "a rule has objected to a text"
        member = self._directory.members.get(checked.author_id)
        if self._rules.get(rule.id) != rule or not self._is_for(rule, member, checked.channel_id, now):
            return Write(lambda _: None, lambda _: None)
        timeout = self._moderation.timing_out_by_rule(checked.author_id, rule.timeout_s, rule.name, now)
        quoted = _quote(checked.text, merge_spans(verdict.matches))
        case = self._reports.found_by_rule(
            ReportSubject(checked.author_id), checked.channel_id, None, rule.name, quoted, now
        )

        def write(connection: Connection) -> None:
            timeout.apply(connection)
            case.write(connection)

        def then(_: None) -> None:
            timeout.on_commit(None)
            case.filed()

        return Write(write, then)

    # Internal methods.

    def _is_for(self, rule: Rule, member: Member | None, channel_id: str, at: float) -> bool:
        """Return whether a rule applies to a message. Only rules for all members apply to former members."""
        channel = self._directory.channels.get(channel_id)
        if channel is None or {channel.id, channel.parent_id} & set(rule.except_channels):
            return False
        if member is None:
            return not rule.newcomer_s
        if rule.newcomer_s and at - member.joined_at_ms / 1000 >= rule.newcomer_s:
            return False
        if set(rule.except_roles) & set(member.role_ids):
            return False
        if self._directory.permissions(member.id) & _MODERATORS:
            return False
        return not self._directory.has_permission(member.id, Permission.MANAGE_MESSAGES, channel_id)

    def _require_rule(self, rule_id: str) -> Rule:
        if (rule := self._rules.get(rule_id)) is None:
            raise ChatError("unknown_rule")
        return rule

    def _require_may_switch_on(self, actor_id: str, rule: Rule) -> None:
        """Raise ChatError if the actor lacks permission for the action of an enabled rule. A rule must not
        extend its author's permissions.
        """
        if rule.enabled and rule.action == TIMEOUT:
            self._directory.require(actor_id, Permission.TIMEOUT_MEMBERS)

    def _require_within_limit(self, rule: Rule) -> None:
        """Raise ChatError if the patterns of this rule and all others together would exceed STEP_LIMIT."""
        others = sum(finder.steps for finder in self._finders if finder.rule.id != rule.id)
        if rule.enabled and others + RuleMatcher(rule).steps > STEP_LIMIT:
            share = round(100 * others / STEP_LIMIT)
            raise ChatError(
                "invalid_request",
                "The patterns of this rule take too long. Use fewer stars, or fewer and shorter patterns."
                f" The other rules take {share} % of the time that all may take",
            )

    async def _switch_off_excess(self, now: float) -> None:
        """Disable the newest rules if all rules together exceed STEP_LIMIT, which an earlier version may have
        allowed.

        Managers see the reason in the audit log and, until the rule is changed, next to the rule.
        """
        steps, off = 0, list[Rule]()
        for rule in self.all():
            cost = RuleMatcher(rule).steps if rule.enabled else 0
            if steps + cost > STEP_LIMIT:
                off.append(rule)
            else:
                steps += cost
        for rule in off:
            self._rules[rule.id] = replace(rule, enabled=False, too_slow=True)
            logger.warning("a rule is switched off: its patterns take too long", extra={"rule": rule.name})
        if off:
            await self._database.write(lambda connection: self._disable_slow(connection, off, now))

    def _disable_slow(self, connection: Connection, rules: Sequence[Rule], now: float) -> None:
        for rule in rules:
            wanted = {**rule.definition(), "enabled": False, "too_slow": True}
            _RULE_TABLE.edit(connection, {"wanted": dumps(wanted).decode()}, id=rule.id)
            details = {"name": rule.name, "reason": "too_slow"}
            self._audit.record(connection, None, "rule_switch_off", rule.id, details, now)

    def _put(self, rule: Rule) -> None:
        self._rules[rule.id] = rule
        self._make_ready()

    def _make_ready(self) -> None:
        kept = {finder.rule.id: finder for finder in self._finders}
        wanted = [rule for rule in self.all() if rule.enabled]
        self._finders = [
            kept[rule.id] if rule.id in kept and kept[rule.id].rule == rule else RuleMatcher(rule)
            for rule in wanted
        ]


def _verdict(checked: CheckedText, matches: Sequence[tuple[Rule, Sequence[Span]]]) -> Verdict:
    for action in (TIMEOUT, BLOCK):
        for rule, spans in matches:
            if rule.action == action:
                explanation = f"The rule “{rule.name}” does not let this message through"
                refusal = ChatError("rule_refused", explanation, {"rule": rule.name})
                return Verdict(refusal=refusal, checked=checked, rule=rule, matches=spans)
    covered = merge_spans([span for rule, spans in matches if rule.action == CENSOR for span in spans])
    verdict = Verdict(spans=covered, flagged=bool(matches), checked=checked)
    for rule, spans in matches:
        if rule.action == FLAG:
            return structs.replace(verdict, reported=True, rule=rule, matches=spans)
    return verdict


def _quote(text: str, spans: Sequence[Span]) -> str:
    """Return the distinct matches, or the whole text if the matches cover all of it."""
    if spans and sum(end - start for start, end in spans) >= len("".join(text.split())):
        return text.strip()[:MAX_QUOTED]
    return ", ".join(dict.fromkeys(text[start:end] for start, end in spans))[:MAX_QUOTED]


def _found_message(message: Message, spans: Sequence[Span]) -> FoundMessage:
    author = message.author
    return FoundMessage(
        message.id,
        message.channel_id,
        author.id,
        author.display_name,
        message.text,
        spans,
        message.posted_at_ms,
    )
