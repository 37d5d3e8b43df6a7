"""Tracks the nodes of a cluster and elects an owner, using a NATS key-value bucket.

The bucket only decides which node should own the community. A former owner that has not noticed the loss of
its lease still cannot write, because the log rejects its entries. The bucket can therefore be in memory. The
clocks of different machines are never compared: a lease has lapsed once a candidate has read the same
revision for the duration of a lease. Everything runs on the log's thread, so a busy server still renews its
lease in time. An owner that cannot renew its lease continues as long as no other node can have taken the
lease. After that, it must not respond to members.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec
from msgspec import structs
from nats.errors import Error as NatsError
from nats.js.api import KeyValueConfig, StorageType
from nats.js.errors import BucketNotFoundError, KeyNotFoundError, KeyWrongLastSequenceError
from nats.js.kv import KeyValue

from svc.base.logs import Outage
from svc.base.tasks import cancel_and_wait
from svc.chat.cluster.config import ClusterConfig
from svc.chat.cluster.lease_check import can_be_replaced
from svc.chat.cluster.nats_connection import ClusterError, fault_of
from svc.chat.cluster.nats_log import NatsLog

# The number of renewals during a lease. A few of them may fail.
_BEATS_IN_LEASE = 6
# The number of missed heartbeats after which a node's name is considered free.
_SILENT_BEATS = 4
_ATTEMPT_S = 1.0
# The states of a node.
FOLLOWER, OWNER, STARTING = "follower", "owner", "starting"
# The state of a silent node, as reported by other nodes.
SILENT = "silent"
OWNER_KEY = "owner"
_NODES, _HASHES = "node", "hashes"
_FAULTS = (NatsError, TimeoutError, OSError)

logger = logging.getLogger(__name__)


class Owner(msgspec.Struct, frozen=True):
    """The lease, which identifies the owner. If `session` is empty, the node `node` may take the lease, or
    any node if `node` is empty too.
    """

    node: str = ""
    session: str = ""
    url: str = ""
    epoch: int = 0
    sequence: int = 0
    # The key that a relay uses to authenticate to the owner.
    relay_key: str = ""


class RelayStatus(msgspec.Struct, frozen=True):
    """A relay that is attached to the owner."""

    relay: str
    url: str
    pages: int


class NodeStatus(msgspec.Struct, frozen=True):
    """The state that a node announces."""

    node: str
    session: str = ""
    url: str = ""
    state: str = STARTING
    epoch: int = 0
    sequence: int = 0
    # Empty unless this node is the owner.
    relays: Sequence[RelayStatus] = ()


class Hashes(msgspec.Struct, frozen=True):
    """The owner's table hashes at a position in the log."""

    sequence: int
    tables: dict[str, str]


def bucket_of(name: str) -> str:
    """Return the name of a community's bucket in NATS."""
    return f"{name}-nodes"


class Membership:
    """A node's membership in its cluster. `start` and `stop` block."""

    def __init__(
        self,
        log: NatsLog,
        config: ClusterConfig,
        session: str,
        status: Callable[[], NodeStatus],
        on_change: Callable[[], None],
    ) -> None:
        """Create the membership. `on_change` is called on the log's thread when the lease can be claimed, and
        when the lease or the node's name has been lost.
        """
        self._log, self._config, self._session = log, config, session
        self._status, self._on_change = status, on_change
        self._beat_s = config.lease_s / _BEATS_IN_LEASE
        self._bucket: KeyValue
        self._revision = self._own_revision = 0
        # When the lease's current revision was first read. None if a read has failed since.
        self._unchanged_since: float | None = None
        self._not_before = 0.0
        self._tasks: list[asyncio.Task[None]] = []
        # The last time that this node was certain to be the owner.
        self._certain_at = 0.0
        # The lease as it was last read. May be accessed from any thread.
        self.owner = Owner()
        # Whether this node believes it holds the lease.
        self.is_holding = False
        self.is_claimable = False
        self.relay_key = secrets.token_urlsafe(24)
        # The reason why this node must exit; empty while it may run.
        self.fatal = ""

    def start(self) -> None:
        """Take the node's name and start the heartbeat. Raises ClusterError."""
        self._log.run_with_retries(self._start)

    def stop(self) -> None:
        """Stop the heartbeat, and free the lease and the name."""
        self._log.run(self._stop())

    def claim(self) -> bool:
        """Try to claim the lease."""
        return self._log.run(self._claim())

    def release(self, next_node: str = "") -> None:
        """Free the lease for `next_node`, or for any other node if it is empty."""
        self._log.run(self._release(next_node))

    def nodes(self) -> list[NodeStatus]:
        """Wait to find out which nodes are silent, then return the states of all nodes. Raises
        ClusterError.
        """
        try:
            return self._log.run(self._nodes())
        except ClusterError:
            # The first request over a restored connection is lost, so repeat it.
            return self._log.run(self._nodes())

    def is_certain(self) -> bool:
        """Return whether this node is the owner and cannot have been replaced. May be called on any
        thread.
        """
        return self.is_holding and time.monotonic() - self._certain_at < self._config.lease_s

    def publish_hashes(self, hashes: Hashes) -> None:
        with suppress(*_FAULTS):
            self._log.run(self._bounded_put(_HASHES, msgspec.json.encode(hashes)))

    def hashes(self) -> Hashes | None:
        """Return the owner's latest hashes, or None if there are none or they cannot be read."""
        try:
            entry = self._log.run(self._read(_HASHES))
        except _FAULTS:
            return None
        return msgspec.json.decode(entry.value, type=Hashes) if entry is not None and entry.value else None

    # Methods that run on the log's thread.

    async def _start(self) -> None:
        try:
            async with asyncio.timeout(self._config.lease_s + 5 * _ATTEMPT_S):
                await self._open_bucket()
                await self._take_name()
        except _FAULTS as fault:
            raise fault_of("the cluster's bucket cannot be used", fault) from None
        self._tasks = [asyncio.create_task(self._beat()), asyncio.create_task(self._stay_certain())]

    async def _open_bucket(self) -> None:
        stream = self._log.client.jetstream(timeout=_ATTEMPT_S)
        name = bucket_of(self._config.name)
        try:
            self._bucket = await stream.key_value(name)
        except BucketNotFoundError:
            # Let only the bucket's leader serve reads, because a replica resuming from a pause would return
            # an outdated lease.
            self._bucket = await stream.create_key_value(
                KeyValueConfig(name, replicas=self._config.replicas, storage=StorageType.MEMORY, direct=False)
            )

    async def _take_name(self) -> None:
        """Take over the node's name from a dead process. Raises ClusterError if that process is alive."""
        key = f"{_NODES}.{self._config.node}"
        entry = await self._read(key)
        if entry is not None and entry.value:
            await asyncio.sleep(self._beat_s * _SILENT_BEATS)
            later = await self._read(key)
            if later is not None and later.revision != entry.revision:
                raise ClusterError(_TWICE.format(self._config.node))
        try:
            self._own_revision = await self._bucket.update(key, self._own_status(), last=_revision(entry))
        except KeyWrongLastSequenceError:
            # An earlier attempt may have succeeded although its response was lost.
            if self._is_of_another(entry := await self._read(key)):
                raise ClusterError(_TWICE.format(self._config.node)) from None
            self._own_revision = _revision(entry)

    async def _stop(self) -> None:
        for task in self._tasks:
            await cancel_and_wait(task)
        if self.is_holding:
            await self._release("")
        with suppress(*_FAULTS):
            async with asyncio.timeout(_ATTEMPT_S):
                if not self.fatal:
                    await self._bucket.put(f"{_NODES}.{self._config.node}", b"")

    async def _beat(self) -> None:
        what = "the cluster's bucket"
        outage = Outage(logger, f"{what} cannot be used", f"{what} can be used again", quiet_s=_ATTEMPT_S)
        while not self.fatal:
            try:
                async with asyncio.timeout(_ATTEMPT_S):
                    await self._announce()
                    await (self._renew() if self.is_holding else self._observe())
                outage.ended()
            except BucketNotFoundError:
                pass
            except _FAULTS as fault:
                self._unchanged_since = None
                if self._log.client.is_connected:  # The connection itself logs its outages.
                    outage.failed(type(fault).__name__)
                # The bucket is only in memory, so it is lost when all NATS servers restart.
                with suppress(*_FAULTS):
                    async with asyncio.timeout(_ATTEMPT_S):
                        await self._open_bucket()
            await asyncio.sleep(self._beat_s)

    async def _announce(self) -> None:
        key = f"{_NODES}.{self._config.node}"
        try:
            self._own_revision = await self._bucket.update(key, self._own_status(), last=self._own_revision)
        except KeyWrongLastSequenceError:
            entry = await self._read(key)
            self._own_revision = _revision(entry)
            if self._is_of_another(entry):
                self.fatal = _TWICE.format(self._config.node)
                self.is_holding = False
                self._on_change()

    def _is_of_another(self, entry: KeyValue.Entry | None) -> bool:
        """Return whether another process with this node's name announced this state."""
        present = msgspec.json.decode(entry.value, type=NodeStatus) if entry and entry.value else None
        return present is not None and present.session != self._session

    def _own_status(self) -> bytes:
        return msgspec.json.encode(self._status())

    async def _stay_certain(self) -> None:
        """Extend this owner's trust in its lease while no node can renew or take the lease."""
        while True:
            await asyncio.sleep(self._beat_s)
            began = time.monotonic()
            if not self.is_certain() or began - self._certain_at < 2 * self._beat_s:
                continue
            urls, replicas = self._config.servers, self._config.replicas
            can_be_replaced_now = await can_be_replaced(self._log.client, urls, replicas)
            # If this process was paused for too long, only a renewal can prove that this node is still the
            # owner.
            if not can_be_replaced_now and self.is_certain():
                self._certain_at = max(self._certain_at, began)

    async def _renew(self) -> None:
        began = time.monotonic()
        try:
            self._revision = await self._bucket.update(OWNER_KEY, self._own_lease(), last=self._revision)
            self._certain_at = began
        except KeyWrongLastSequenceError:
            owner = await self._read_owner()
            if owner.session not in ("", self._session):
                self.is_holding = False
                self._on_change()

    def _own_lease(self) -> bytes:
        status = self._status()
        self.owner = Owner(
            status.node, self._session, status.url, self._log.epoch, self._log.sequence, self.relay_key
        )
        return msgspec.json.encode(self.owner)

    async def _observe(self) -> None:
        before = self._revision
        owner = await self._read_owner()
        now = time.monotonic()
        if self._revision != before or self._unchanged_since is None:
            self._unchanged_since = now
        own = owner.node == self._config.node
        free = not owner.session and owner.node in ("", self._config.node)
        lapsed = now - self._unchanged_since >= self._config.lease_s
        self.is_claimable = (own or free or lapsed) and now >= self._not_before
        if self.is_claimable:
            self._on_change()

    async def _claim(self) -> bool:
        self.is_claimable = False
        began = time.monotonic()
        try:
            async with asyncio.timeout(_ATTEMPT_S):
                self._revision = await self._bucket.update(OWNER_KEY, self._own_lease(), last=self._revision)
        except _FAULTS:
            # The owner may also have just lost its connection, so give it time to renew the lease.
            self._unchanged_since = None
            return False
        self._certain_at, self.is_holding = began, True
        return True

    async def _release(self, next_node: str) -> None:
        if not self.is_holding:
            return
        self.is_holding = False
        self._unchanged_since = None
        self._not_before = time.monotonic() + self._config.lease_s
        self.owner = Owner(node=next_node)
        with suppress(*_FAULTS):
            async with asyncio.timeout(_ATTEMPT_S):
                await self._bucket.update(OWNER_KEY, msgspec.json.encode(self.owner), last=self._revision)

    async def _read_owner(self) -> Owner:
        entry = await self._read(OWNER_KEY)
        self._revision = _revision(entry)
        self.owner = msgspec.json.decode(entry.value, type=Owner) if entry and entry.value else Owner()
        return self.owner

    async def _read(self, key: str) -> KeyValue.Entry | None:
        try:
            return await self._bucket.get(key)
        except KeyNotFoundError:
            return None

    async def _bounded_put(self, key: str, value: bytes) -> None:
        async with asyncio.timeout(_ATTEMPT_S):
            await self._bucket.put(key, value)

    async def _nodes(self) -> list[NodeStatus]:
        try:
            async with asyncio.timeout(_ATTEMPT_S + self._beat_s * _SILENT_BEATS):
                keys = [key for key in await self._bucket.keys() if key.startswith(f"{_NODES}.")]
                before = {key: _revision(await self._read(key)) for key in keys}
                await asyncio.sleep(self._beat_s * _SILENT_BEATS)
                entries = {key: await self._read(key) for key in sorted(keys)}
        except _FAULTS as fault:
            raise ClusterError(f"the nodes cannot be read: {type(fault).__name__}") from None
        nodes = []
        for key, entry in entries.items():
            if entry is not None and entry.value:
                node = msgspec.json.decode(entry.value, type=NodeStatus)
                is_silent = _revision(entry) == before[key]
                nodes.append(structs.replace(node, state=SILENT) if is_silent else node)
        return nodes


def _revision(entry: KeyValue.Entry | None) -> int:
    return (entry.revision or 0) if entry is not None else 0


_TWICE = "another live node is named {}: give each node its own --node"
