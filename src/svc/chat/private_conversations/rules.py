"""Manages the members of private conversations, and puts everything that their devices send into a total
order.

Only the first commit in an epoch is accepted. The write transaction decides which commit is the first. The
sender of a later commit gets the entries that they missed. Sending the same bytes again changes nothing and
returns the same response, so a replay is not a new message. Content and sender are encrypted. The server
checks that the sending device is in the group, but does not store which device it was. This module contains
neither HTTP nor SQL code. See RFC 9420 sections 12.4 and 14, RFC 9750 sections 5.2 and 7.
"""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from msgspec import to_builtins

from svc.base.database import Connection, Write
from svc.base.token_bucket import TokenBuckets
from svc.chat.access.checked_writes import exclusive_write, shared_write
from svc.chat.access.permissions import Permission
from svc.chat.access.tokens import Session
from svc.chat.errors import ChatError
from svc.chat.live.hub import Recipients, only
from svc.chat.moderation.reports import RevealedMessage
from svc.chat.private_conversations import commits, devices_store, framing, franking, store
from svc.chat.private_conversations.devices import PrivateDevices
from svc.chat.private_conversations.responses import (
    ClaimedPackage,
    KeysLow,
    PrivateChanged,
    PrivateLog,
    PrivateSent,
)
from svc.chat.private_conversations.store import (
    COMMIT,
    MAX_MISSED,
    MAX_PEOPLE,
    MESSAGE,
    Kind,
    PrivateConversation,
    PrivateGroup,
    PrivateWelcome,
)
from svc.chat.services import Services

# The maximum number of conversations per member. Clients load the whole list.
MAX_CONVERSATIONS = 200
# The rate limit for adding other members to conversations, as a burst and a rate per second. Filling a
# victim's list would take half a day, enough time to leave the conversations and block the member.
OPEN_BURST, OPENED_PER_S = 20, 1 / 240
_MAX_OPENING = 10_000
_NOBODY: frozenset[str] = frozenset()

# Returns whether the first member has blocked the second.
Blocks = Callable[[str, str], bool]
# Notifies members of a "mention" or a "call". The arguments are the kind, the conversation, the members, and
# a function that returns whether a member may still be notified.
Rings = Callable[[str, str, Collection[str], Callable[[str], bool]], None]


@dataclass(frozen=True, slots=True)
class Commit:
    """A device's commit: its message, a Welcome, and the devices that it removes."""

    message: bytes
    welcome: bytes | None
    removed: Collection[str]
    # The number of the last entry that the device has read.
    after: int


@dataclass(frozen=True, slots=True)
class _Taken:
    packages: Sequence[ClaimedPackage]
    low: Sequence[KeysLow]
    # The member to whom each device belongs.
    owners: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Sent:
    group: PrivateGroup
    kind: Kind
    added: Collection[str] = ()
    is_new: bool = True


class PrivateConversations:
    def __init__(
        self,
        services: Services,
        devices: PrivateDevices,
        blocks: Blocks,
        franking_key: bytes,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._devices = devices
        self._blocks = blocks
        self._new_id = services.new_id
        self._franking_key = franking_key
        self._steady = steady
        self._opening = TokenBuckets(OPEN_BURST, OPENED_PER_S, _MAX_OPENING)
        self.on_ring: list[Rings] = []
        # For each conversation: whether it is between two people, and its members.
        self._members: dict[str, tuple[bool, frozenset[str]]] = {}
        # For each encrypted channel: the people in its call (`channel_calls`).
        self.calls: dict[str, frozenset[str]] = {}
        # Called with a conversation and a member who has left it or has been removed from it.
        self.on_left: list[Callable[[str, str], None]] = []
        devices.on_lacking.append(self.report_changed)

    async def load(self) -> None:
        self._members = await store.load(self._database)
        self.calls = await store.load_calls(self._database)

    async def of(self, member_id: str) -> list[PrivateConversation]:
        return await store.conversations(self._database, member_id)

    async def get(self, member_id: str, conversation_id: str) -> PrivateConversation:
        """Return a conversation. Raises ChatError."""
        self._require_inside(member_id, conversation_id)
        for conversation in await store.conversations(self._database, member_id, conversation_id):
            return conversation
        raise ChatError("unknown_conversation")

    # Methods about the members of conversations.

    def people_of(self, conversation_id: str) -> frozenset[str]:
        """Return the conversation's members, or an empty set if the conversation is unknown."""
        return self._members.get(conversation_id, (False, _NOBODY))[1]

    @exclusive_write
    def open(self, member_id: str, others: Collection[str], now: float) -> Write[str, str]:
        """Open a conversation and return its id. Reuse an existing conversation between two people. Raises
        ChatError.
        """
        people = frozenset({member_id, *others})
        if not 2 <= len(people) <= MAX_PEOPLE:
            raise ChatError("invalid_request", f"A conversation has 2 to {MAX_PEOPLE} people")
        self._require_reachable(member_id, people)
        pair = "/".join(sorted(people)) if len(people) == 2 else None
        if (True, people) not in self._members.values():
            self._count_opening(member_id)

        def write(connection: Connection) -> str:
            existing_id = store.of_pair(connection, pair) if pair else None
            conversation_id = existing_id or self._new_id()
            if existing_id is None:
                store.put(connection, conversation_id, pair, int(now * 1000))
            _add(connection, conversation_id, people)
            return conversation_id

        def opened(conversation_id: str) -> str:
            self._members[conversation_id] = (pair is not None, people)
            return conversation_id

        return Write(write, opened)

    @exclusive_write
    def add(self, member_id: str, conversation_id: str, other_id: str) -> Write[None, None]:
        """Add a person to a conversation. A later commit adds their devices to its group. Raises
        ChatError.
        """
        people = self._require_group(member_id, conversation_id)
        if len(people | {other_id}) > MAX_PEOPLE:
            raise ChatError("too_many", f"A conversation has at most {MAX_PEOPLE} people")
        self._require_reachable(member_id, {other_id})
        self._count_opening(member_id)

        def added(_: None) -> None:
            self._members[conversation_id] = (False, people | {other_id})
            self.report_changed([conversation_id])

        return Write(lambda connection: _add(connection, conversation_id, [other_id]), added)

    @exclusive_write
    def remove(self, member_id: str, conversation_id: str, other_id: str) -> Write[None, None]:
        """Remove a member from a conversation, so that they can neither read nor send. Members can also
        remove themselves. Raises ChatError.
        """
        if other_id not in self._require_group(member_id, conversation_id):
            raise ChatError("unknown_member")

        def left(_: None) -> None:
            self.report_changed([conversation_id])
            self._drop(conversation_id, other_id)

        return Write(lambda connection: store.remove_member(connection, conversation_id, other_id), left)

    @shared_write
    def lose(self, session: Session, conversation_id: str) -> Write[None, None]:
        """Record that the requesting device has lost the group's keys, so that other devices add it again.
        Raises ChatError.
        """
        self._require_inside(session.member_id, conversation_id)

        def write(connection: Connection) -> None:
            device_id, _ = self._devices.require(connection, session)
            leaf = {"conversation_id": conversation_id, "device_id": device_id}
            store.LEAVES.edit(connection, {"gone": 1}, **leaf)

        return Write(write, lambda _: self.report_changed([conversation_id]))

    def forget_member_in(self, connection: Connection, member_id: str) -> None:
        """Remove a leaving member and their devices from all conversations. Call this within a write
        transaction.
        """
        devices_store.DEVICES.delete(connection, member_id=member_id)
        for conversation_id in store.conversations_of(connection, member_id):
            store.remove_member(connection, conversation_id, member_id)

    def forget_member(self, member_id: str) -> None:
        """Update the in-memory conversations after a member has left the server. Push the changes."""
        conversation_ids = [
            conversation_id for conversation_id, (_, people) in self._members.items() if member_id in people
        ]
        for conversation_id in conversation_ids:
            self._drop(conversation_id, member_id)
        self.report_changed(conversation_ids)

    def _drop(self, conversation_id: str, member_id: str) -> None:
        is_pair, people = self._members[conversation_id]
        self._members[conversation_id] = (is_pair, people - {member_id})
        if people == {member_id}:
            del self._members[conversation_id]
        for notify in self.on_left:
            notify(conversation_id, member_id)

    # Methods about groups and their messages.

    @shared_write
    def take_packages(
        self, session: Session, conversation_id: str, device_ids: Collection[str], now: float
    ) -> Write[_Taken, Sequence[ClaimedPackage]]:
        """Take a key package from each given device that may be added to the group. Raises ChatError."""
        people = self._in_call(session.member_id, conversation_id) or self.require_writable(
            session.member_id, conversation_id
        )

        def write(connection: Connection) -> _Taken:
            self._devices.require(connection, session)
            leaves = store.leaves(connection, conversation_id)
            in_call = store.devices_in_call(connection, conversation_id)
            wanted = {
                candidate: owner
                for candidate in device_ids
                if (owner := devices_store.member_of(connection, candidate)) in people
                and in_call.get(owner, candidate) == candidate
                and (candidate not in leaves or leaves[candidate].gone)
            }
            return _Taken(*self._devices.take(connection, list(wanted), now), wanted)

        def taken(outcome: _Taken) -> Sequence[ClaimedPackage]:
            self._devices.report_low(outcome.low, outcome.owners)
            return outcome.packages

        return Write(write, taken)

    @shared_write
    def commit(
        self, session: Session, conversation_id: str, wanted: Commit, now: float
    ) -> Write[_Sent, PrivateGroup]:
        """Accept a commit, which ends the epoch, and add its Welcome's recipients to the group. Raises
        ChatError.
        """
        people = self._require_inside(session.member_id, conversation_id)
        epoch = commits.read(wanted.message, conversation_id, framing.COMMIT).epoch
        refs = commits.recipients(wanted.welcome)

        def write(connection: Connection) -> _Sent:
            device_id, _ = self._devices.require(connection, session)
            commits.require_with(connection, conversation_id, session.member_id, device_id)
            group = self._group(connection, conversation_id)
            if again := store.sent_before(connection, conversation_id, wanted.message):
                return _repeated(again["epoch"] + 1, again["seq"], COMMIT)
            leaves = store.leaves(connection, conversation_id)
            if epoch == 0 and group.epoch > 0 and all(leaf.gone for leaf in leaves.values()):
                # No device that could add others is left in the group.
                group, leaves = store.restart_group(connection, conversation_id, group), {}
            # The first commit creates the group. A device that tries to create it later is added by the
            # creator.
            if epoch > 0:
                commits.require_leaf(leaves, device_id)
            if epoch != group.epoch:
                raise self._behind_error(connection, conversation_id, device_id, group, wanted.after)
            added = commits.added_by(connection, conversation_id, refs, people)
            commits.require_possible(device_id, leaves, wanted.removed, added)
            after = store.append(connection, conversation_id, group, COMMIT, wanted.message, int(now * 1000))
            commits.settle(connection, conversation_id, after, device_id, wanted.removed, added)
            if wanted.welcome is not None:
                welcome = PrivateWelcome(self._new_id(), conversation_id, after.seq, wanted.welcome)
                store.put_welcome(connection, welcome, list(added), int(now * 1000))
                devices_store.delete_used(connection, refs)
            return _Sent(after, COMMIT, list(added))

        return Write(write, lambda sent: self._on_sent(conversation_id, sent))

    @shared_write
    def send(
        self,
        session: Session,
        conversation_id: str,
        body: bytes,
        commitment: bytes,
        after: int,
        now: float,
        *,
        ring: bool = True,
    ) -> Write[_Sent, PrivateGroup]:
        """Append a message to the log and notify the other members if `ring` is set. Raises ChatError."""
        self.require_writable(session.member_id, conversation_id)
        read = commits.read(body, conversation_id, framing.APPLICATION)
        # Otherwise, members could send messages that recipients cannot report.
        if read.authenticated_data != franking.bound(commitment):
            raise ChatError("invalid_request", "The message must be bound to its commitment")
        sent_at_ms = int(now * 1000)
        sending = franking.Sending(conversation_id, session.member_id, sent_at_ms)
        tag = franking.tag(self._franking_key, commitment, sending)

        def write(connection: Connection) -> _Sent:
            device_id, _ = self._devices.require(connection, session)
            group = self._group(connection, conversation_id)
            leaves = store.leaves(connection, conversation_id)
            commits.require_leaf(leaves, device_id)
            if again := store.sent_before(connection, conversation_id, body):
                return _repeated(again["epoch"], again["seq"], MESSAGE)
            if read.epoch != group.epoch:
                raise self._behind_error(connection, conversation_id, device_id, group, after)
            if any(leaf.gone for leaf in leaves.values()):
                raise ChatError("devices_changed")
            appended = store.append(connection, conversation_id, group, MESSAGE, body, sent_at_ms, tag)
            return _Sent(appended, MESSAGE)

        def done(sent: _Sent) -> PrivateGroup:
            if ring and sent.is_new:
                self._ring("mention", conversation_id, session.member_id)
            return self._on_sent(conversation_id, sent)

        return Write(write, done)

    async def log(
        self, member_id: str, device_id: str | None, conversation_id: str, after: int, maximum: int
    ) -> PrivateLog:
        """Return the log entries after the given number that the device may read. Raises ChatError."""
        conversation = await self.get(member_id, conversation_id)
        if device_id is None:
            raise ChatError("no_device")
        entries = await store.entries(self._database, conversation_id, device_id, after, maximum)
        # Check again, because the member may have been removed.
        self._require_inside(member_id, conversation_id)
        since = await store.since(self._database, conversation_id, device_id) or 0
        return PrivateLog(entries, conversation.epoch, conversation.seq, conversation.first_seq, since)

    @shared_write
    def accept_welcome(self, session: Session, welcome_id: str) -> Write[None, None]:
        """Record that the requesting device has joined with a Welcome. Idempotent."""

        def write(connection: Connection) -> None:
            device_id, _ = self._devices.require(connection, session)
            store.drop_welcome(connection, device_id, welcome_id)

        return Write(write, lambda _: None)

    def reveal(self, reporter_id: str, sending: franking.Sending, proof: franking.Proof) -> RevealedMessage:
        """Verify the proof in a report about a message. Return the revealed message. Raises ChatError."""
        self.require_member(reporter_id, sending.conversation_id)
        try:
            text, files = franking.parts(proof.content)
            proved = franking.is_proved(self._franking_key, proof, sending)
        except ValueError as fault:
            raise ChatError("invalid_request", f"This cannot be a message's content: {fault}") from None
        if not proved:
            raise ChatError("not_proved")
        return RevealedMessage(sending.conversation_id, sending.sent_at_ms, text, files)

    # Shared helpers.

    def require_member(self, member_id: str, conversation_id: str) -> frozenset[str]:
        """Return a conversation's members. Raises ChatError if the given member is not among them."""
        people = self.people_of(conversation_id)
        if member_id not in people:
            raise ChatError("unknown_conversation")
        return people

    def _in_call(self, member_id: str, channel_id: str) -> frozenset[str]:
        """Return the people in an encrypted channel's call who may join it, or an empty set if the given
        member is not among them.
        """
        has_permission = self._directory.has_permission
        people = self.calls.get(channel_id, _NOBODY)
        participants = frozenset(
            member_id for member_id in people if has_permission(member_id, Permission.JOIN_VOICE, channel_id)
        )
        return participants if member_id in participants else _NOBODY

    def _require_inside(self, member_id: str, conversation_id: str) -> frozenset[str]:
        """Return the people in a conversation or a channel's call. Raises ChatError if the given member is
        not among them.
        """
        return self._in_call(member_id, conversation_id) or self.require_member(member_id, conversation_id)

    def _audience(self, conversation_id: str) -> Recipients:
        return only(*self.people_of(conversation_id), *self.calls.get(conversation_id, ()))

    def _require_group(self, member_id: str, conversation_id: str) -> frozenset[str]:
        people = self.require_member(member_id, conversation_id)
        if self._members[conversation_id][0]:
            raise ChatError("invalid_request", "The members of a conversation of two cannot be changed")
        return people

    def require_writable(self, member_id: str, conversation_id: str) -> frozenset[str]:
        """Return a conversation's members. If there are only two, raise ChatError if one has left the server
        or has blocked the other.
        """
        people = self.require_member(member_id, conversation_id)
        if self._members[conversation_id][0]:
            if len(people) < 2:
                raise ChatError("private_refused", "The other person is no longer a member")
            self._require_reachable(member_id, people)
        return people

    def _require_reachable(self, member_id: str, people: Collection[str]) -> None:
        """Raise ChatError if one of the people is a bot, or has blocked or is blocked by the member."""
        for other_id in people:
            if other_id == member_id:
                continue
            if self._directory.member(other_id).bot:
                raise ChatError("private_refused", "Bots cannot take part in private conversations")
            if self._blocks(other_id, member_id) or self._blocks(member_id, other_id):
                raise ChatError("private_refused")

    def _count_opening(self, member_id: str) -> None:
        if wait_s := self._opening.of(member_id).take_if_left(self._steady()):
            raise ChatError("rate_limited", more={"retry_after_ms": int(wait_s * 1000) + 1})

    def _group(self, connection: Connection, conversation_id: str) -> PrivateGroup:
        group = store.GROUPS.get(connection, id=conversation_id)
        if group is None:
            raise ChatError("unknown_conversation")
        return group

    def _behind_error(
        self, connection: Connection, conversation_id: str, device_id: str, group: PrivateGroup, after: int
    ) -> ChatError:
        missed = store.entries_in(connection, conversation_id, device_id, after, MAX_MISSED)
        position = {"epoch": group.epoch, "seq": group.seq, "missed": to_builtins(missed)}
        return ChatError("epoch_passed", more=position)

    def _on_sent(self, conversation_id: str, sent: _Sent) -> PrivateGroup:
        group = sent.group
        if sent.is_new:
            event = PrivateSent(conversation_id, group.seq, group.epoch, sent.kind)
            self._hub.push("private_sent", event, self._audience(conversation_id))
        return group

    def ring_if_first(self, conversation_id: str, caller_id: str) -> None:
        """Notify the other members of a call. Called when the caller is the first to join."""
        self._ring("call", conversation_id, caller_id)

    def _ring(self, kind: str, conversation_id: str, sender_id: str) -> None:
        people = self.people_of(conversation_id)
        recipients = [other_id for other_id in people - {sender_id} if not self._blocks(other_id, sender_id)]
        for ring in self.on_ring:
            ring(
                kind,
                conversation_id,
                recipients,
                lambda other_id: other_id in self.people_of(conversation_id),
            )

    def report_changed(self, conversation_ids: Sequence[str]) -> None:
        for conversation_id in conversation_ids:
            self._hub.push(
                "private_changed", PrivateChanged(conversation_id), self._audience(conversation_id)
            )


def _repeated(epoch: int, seq: int, kind: Kind) -> _Sent:
    return _Sent(PrivateGroup(epoch, seq), kind, is_new=False)


def _add(connection: Connection, conversation_id: str, people: Collection[str]) -> None:
    store.add_members(connection, conversation_id, people)
    if any(store.count_of(connection, member_id) > MAX_CONVERSATIONS for member_id in people):
        raise ChatError(
            "too_many", f"One of them is in {MAX_CONVERSATIONS} conversations, which is the limit"
        )
