"""Implements the commit log, a JetStream stream to which entries are appended by compare-and-set.

NATS runs on an event loop in a separate thread, so a busy server does not delay commits. The stream's last
sequence fences former owners: an append specifies the sequence that it follows, and NATS rejects it if
another node has appended since. An append with an unknown outcome is repeated until NATS accepts it or
another message is found in its place, so the outcome is known before the next append. This module is
independent of the database's tables.
"""

import asyncio
import json
import secrets
import sqlite3
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, StreamConfig, StreamInfo, StreamState
from nats.js.errors import APIError, NotFoundError

from svc.base import commit_log
from svc.base.commit_log import LogLost, recorded_statements
from svc.base.tasks import cancel_and_wait
from svc.chat.cluster.log_entry import ID, PART, PARTS, Assembly, Entry, encode, statements_of
from svc.chat.cluster.nats_connection import ClusterError, connect, disconnect, fault_of, retry_at_start
from svc.chat.cluster.stored_streams import refuse_weak_stream

REPLICAS = 3
# How long entries are kept by default: seven days in which any second can be restored, plus one day, because
# the snapshot to start from may be a day older.
RETENTION_S = 8 * 24 * 3600.0
# An append takes milliseconds, but electing a new leader for the stream takes up to 6 s.
DOUBT_S = 10.0
_ATTEMPT_S = 2.0
_PAUSE_S = 0.1
_CONNECT_S = 5.0
_READ_AT_ONCE = 500
# The first version of nats-server that can send messages in batches.
_MIN_SERVER = (2, 11)
_WRONG_LAST_SEQUENCE = 10071
_NAME_IN_USE = 10058
# Keys in the stream's metadata.
_COMMUNITY, _SECRET = "svc_community", "svc_secret"
_UNKNOWN = "The cluster has lost its quorum. The change may still be stored; try again in a moment"
_FENCED = "Another node owns the community now. Nothing was stored; try again in a moment"
_STOPPED = "This node stops before the cluster has confirmed the change. It may still be stored"

T = TypeVar("T")


class LogTrimmed(ClusterError):
    """The log no longer contains the next entries that the file needs, so a snapshot must replace the
    file.
    """


@dataclass(frozen=True, slots=True)
class Origin:
    """The identity of a log's community, stored in the stream's metadata."""

    community: str
    # A digest of the key that signs access tokens. All nodes must share this key.
    secret: str


class NatsLog:
    """A community's log. `open` may be called on any thread. Methods block unless they are coroutines."""

    def __init__(self, name: str, node: str, on_lost: Callable[[str], None]) -> None:
        """Create the log. `on_lost` is called on another thread when this node may no longer write."""
        self.name, self._node, self._on_lost = name, node, on_lost
        self.subject = f"{name}.log"
        # The sequence number of the last entry that this node knows of, and the epoch of that entry.
        self.sequence = self.epoch = 0
        self._stopping = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="cluster", daemon=True)
        # Set when any node sends an entry, even before the entry is confirmed.
        self._news = threading.Event()
        # Called on the writer thread before each append. At that moment, the file contains exactly the
        # entries up to `sequence`.
        self.before_append: Callable[[int], None] = lambda sequence: None
        self.client: Client

    def open(
        self,
        servers: Sequence[str],
        *,
        replicas: int = REPLICAS,
        kept_s: float = RETENTION_S,
        origin: Origin | None = None,
    ) -> None:
        """Connect to NATS. If `origin` is given, create the stream unless it exists.

        Raises ClusterError, for example if an existing stream does not meet the requirements.
        """
        self._thread.start()
        try:
            self.run(self._connect(servers))
            if origin is not None:
                self.create(origin, replicas=replicas, kept_s=kept_s)
            self.run_with_retries(lambda: self._check_stream(replicas, kept_s))
        except BaseException:
            self.close()
            raise

    def create(self, origin: Origin, *, replicas: int = REPLICAS, kept_s: float = RETENTION_S) -> None:
        """Create the stream unless it exists. Raises ClusterError."""
        self.run_with_retries(lambda: self._create(origin, replicas, kept_s))

    def origin(self) -> Origin | None:
        """Return the identity of the log's community, or None if there is no stream. Raises ClusterError."""
        info = self.run_with_retries(self._info)
        metadata = (info.config.metadata or {}) if info is not None else {}
        return Origin(metadata.get(_COMMUNITY, ""), metadata.get(_SECRET, "")) if info is not None else None

    def stop(self) -> None:
        """Give up on an append with an unknown outcome. The next start reads the outcome from the log."""
        self._stopping = True

    def close(self) -> None:
        """Disconnect from NATS. Call `stop` and close the database first."""
        if hasattr(self, "client"):
            self.run(disconnect(self.client))
        self._end()

    def wait_for_append(self, timeout_s: float) -> bool:
        """Wait up to `timeout_s` for a node to append an entry. Return whether a node did."""
        was_set = self._news.wait(timeout_s)
        self._news.clear()
        return was_set

    def wake(self) -> None:
        """Make `wait_for_append` return."""
        self._news.set()

    async def _connect(self, servers: Sequence[str]) -> None:
        self.client = await connect(servers)
        version = self.client.connected_server_version
        if (version.major, version.minor) < _MIN_SERVER:
            raise ClusterError(
                f"NATS {version.major}.{version.minor} cannot read the log in batches: update it to 2.11"
            )
        await self.client.subscribe(self.subject, cb=self._appended)

    async def _appended(self, _: Msg) -> None:
        self._news.set()

    async def _create(self, origin: Origin, replicas: int, kept_s: float) -> None:
        config = StreamConfig(
            name=self.name,
            subjects=[self.subject],
            num_replicas=replicas,
            max_age=kept_s,
            allow_direct=True,
            deny_delete=True,
            metadata={_COMMUNITY: origin.community, _SECRET: origin.secret},
        )
        if await self._info() is not None:
            return
        try:
            await self.client.jetstream(timeout=_CONNECT_S).add_stream(config)
        except APIError as fault:
            if fault.err_code != _NAME_IN_USE:  # Another node created it first.
                raise fault_of(f"the stream {self.name} cannot be created", fault) from None
        except (NatsError, TimeoutError) as fault:
            raise fault_of(f"the stream {self.name} cannot be created", fault) from None

    async def _info(self) -> StreamInfo | None:
        try:
            return await self.client.jetstream(timeout=_CONNECT_S).stream_info(self.name)
        except NotFoundError:
            return None
        except (NatsError, TimeoutError) as fault:
            raise fault_of(f"the stream {self.name} cannot be used", fault) from None

    async def _check_stream(self, replicas: int, kept_s: float) -> None:
        info = await self._info()
        if info is None:
            return
        refuse_weak_stream(f"the stream {self.name}", info.config, replicas, kept_s)
        if not info.config.allow_direct:
            raise ClusterError(f"the stream {self.name} cannot be read from each server: set allow_direct")

    # Methods that append entries. They run on the writer thread.

    def append(self, connection: sqlite3.Connection, doubt: Callable[[str], None]) -> None:
        """Append a transaction's statements. See CommitLog."""
        recordings = recorded_statements(connection)
        if not recordings:
            return
        entry = Entry(self.epoch, self._node, statements_of(recordings))
        self._append(connection, entry, doubt)

    def append_script(self, connection: sqlite3.Connection, script: str) -> None:
        """Append a migration's script. See CommitLog."""
        self._append(connection, Entry(self.epoch, self._node, script=script), lambda _: None)

    def fall_behind(self, fault: Exception) -> None:
        """Stop appending, and report the loss of the log. See CommitLog."""
        self._stopping = True
        self._on_lost(str(fault))

    def begin_epoch(self, sequence: int, epoch: int) -> None:
        """Become the owner at `sequence`, which must be the end of the log. Raises LogLost if it is not."""
        self._stopping = False
        self.sequence = self._publish_and_wait(encode(Entry(epoch, self._node)), sequence, lambda _: None)
        self.epoch = epoch

    def _append(self, connection: sqlite3.Connection, entry: Entry, doubt: Callable[[str], None]) -> None:
        if self._stopping:
            raise LogLost(_FENCED)
        self.before_append(self.sequence)
        parts = encode(entry)
        # Record the position before sending the entry. If the disk is full, this fails while the transaction
        # can still be rolled back.
        commit_log.move_to(connection, self.sequence + len(parts), self.epoch)
        self.sequence = self._publish_and_wait(parts, self.sequence, doubt)

    def _publish_and_wait(self, parts: Sequence[bytes], after: int, doubt: Callable[[str], None]) -> int:
        return self.run(self._publish(parts, after, doubt))

    async def _publish(self, parts: Sequence[bytes], after: int, doubt: Callable[[str], None]) -> int:
        """Publish the parts of an entry. Return the sequence of the last part. Raises LogLost."""
        id_ = secrets.token_hex(8)
        doubtful = self._loop.call_later(DOUBT_S, doubt, _UNKNOWN)
        try:
            for number, data in enumerate(parts):
                headers = {ID: id_, PART: str(number), PARTS: str(len(parts))}
                await self._publish_part(data, headers, after)
                after += 1
        finally:
            doubtful.cancel()
        return after

    async def _publish_part(self, data: bytes, headers: dict[str, str], after: int) -> None:
        stream = self.client.jetstream(timeout=_ATTEMPT_S)
        expecting = {**headers, "Nats-Expected-Last-Sequence": str(after)}
        while not self._stopping:
            try:
                acknowledged = await stream.publish(self.subject, data, stream=self.name, headers=expecting)
            except APIError as fault:
                if fault.err_code == _WRONG_LAST_SEQUENCE and await self._is_mine(after + 1, headers):
                    return
            except (NatsError, TimeoutError):
                pass
            else:
                if acknowledged.seq != after + 1:
                    raise LogLost(_FENCED)
                return
            await asyncio.sleep(_PAUSE_S)
        raise LogLost(_STOPPED)

    async def _is_mine(self, sequence: int, headers: dict[str, str]) -> bool:
        """Return whether the message at `sequence` has these headers. Raises LogLost if it does not.

        Returns False if no message can be read yet.
        """
        try:
            message = await self.client.jetstream(timeout=_ATTEMPT_S).get_msg(self.name, sequence)
        except (NatsError, TimeoutError):
            return False
        present = message.headers or {}
        if all(present.get(name) == headers[name] for name in (ID, PART)):
            return True
        raise LogLost(_FENCED)

    # Methods that read the log.

    def last_sequence(self) -> int:
        """Return the log's last sequence number, according to the stream's leader. Raises ClusterError."""
        return self.run(self._last_sequence())

    async def _last_sequence(self) -> int:
        return (await self._state()).last_seq

    def check_reaches_back(self, after: int) -> None:
        """Check that the entries after `after` have not expired. Raises LogTrimmed or ClusterError.

        `read` cannot detect this: if all of these entries have expired, it returns no entries, as it does at
        the end of the log.
        """
        first = self.run(self._state()).first_seq
        if first > after + 1:
            raise LogTrimmed(f"the log begins at {first}, after {after + 1}")

    async def _state(self) -> StreamState:
        try:
            return (await self.client.jetstream(timeout=_ATTEMPT_S).stream_info(self.name)).state
        except (NatsError, TimeoutError) as fault:
            raise ClusterError(f"the log cannot be read: {type(fault).__name__}") from None

    def replicas(self) -> dict[str, bool]:
        """Return the NATS servers that store the log, and whether each of them has the complete log. Raises
        ClusterError.
        """
        info = self.run(self._info())
        if info is None or info.cluster is None:
            return {}
        leader = {info.cluster.leader: True} if info.cluster.leader else {}
        return leader | {peer.name or "": bool(peer.current) for peer in info.cluster.replicas or ()}

    def sequence_at(self, moment: datetime) -> int:
        """Return the last sequence number that NATS stored before `moment`. Raises ClusterError."""
        return self.run(self._sequence_at(moment.astimezone(UTC)))

    async def _sequence_at(self, moment: datetime) -> int:
        stream, end = self.client.jetstream(timeout=_CONNECT_S), await self._last_sequence()
        consumer = ConsumerConfig(
            deliver_policy=DeliverPolicy.BY_START_TIME,
            opt_start_time=moment,
            ack_policy=AckPolicy.NONE,
        )
        try:
            later = await stream.pull_subscribe(self.subject, stream=self.name, config=consumer)
            try:
                if (await later.consumer_info()).num_pending == 0:
                    return end
                (first,) = await later.fetch(1, timeout=_CONNECT_S)
                return first.metadata.sequence.stream - 1
            finally:
                await later.unsubscribe()
        except (NatsError, TimeoutError) as fault:
            raise ClusterError(f"the log cannot be searched: {type(fault).__name__}") from None

    def read(self, after: int) -> tuple[list[tuple[int, Entry]], int]:
        """Return the complete entries that follow `after`, each with the sequence of its last part. Also
        return the last sequence number read.

        Any replica of the stream may respond, so the newest entries may be missing. Raises ClusterError.
        """
        return self.run(self._read(after))

    async def _read(self, after: int) -> tuple[list[tuple[int, Entry]], int]:
        inbox = self.client.new_inbox()
        replies = await self.client.subscribe(inbox)
        entries: list[tuple[int, Entry]] = []
        assembly = Assembly()
        wanted = {"seq": after + 1, "batch": _READ_AT_ONCE}
        try:
            await self.client.publish(
                f"$JS.API.DIRECT.GET.{self.name}", json.dumps(wanted).encode(), reply=inbox
            )
            while True:
                message = await replies.next_msg(timeout=_ATTEMPT_S)
                headers = message.headers or {}
                if "Status" in headers:  # The batch has ended, or there is no later message.
                    return entries, after
                sequence = int(headers["Nats-Sequence"])
                if sequence != after + 1:
                    raise LogTrimmed(f"the log continues at {sequence} instead of {after + 1}")
                after = sequence
                entry = assembly.add(headers[ID], int(headers[PART]), int(headers[PARTS]), message.data)
                if entry is not None:
                    entries.append((sequence, entry))
        except (NatsError, TimeoutError) as fault:
            raise ClusterError(f"the log cannot be read: {type(fault).__name__}") from None
        finally:
            with suppress(NatsError):
                await replies.unsubscribe()

    # Methods that use the log's thread.

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the log's thread and return its result.

        Raises RuntimeError if the log is closed.
        """
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except CancelledError:
            raise RuntimeError("the log has been closed") from None

    def run_with_retries(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine during startup and repeat it while NATS is slow. Raises ClusterError."""
        return retry_at_start(lambda: self.run(work()), lambda: self._stopping)

    def _end(self) -> None:
        # If NATS is unreachable, the client leaves tasks behind.
        self.run(_cancel_all_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancel_all_others() -> None:
    with suppress(Exception):
        await cancel_and_wait(*(asyncio.all_tasks() - {asyncio.current_task()}))
