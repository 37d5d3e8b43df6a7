"""Runs a cluster node, which follows its community's log and serves the community when elected.

A follower applies the log to its own database file. Once it holds the lease, it appends an entry that begins
a new epoch and fences the previous owner. Then it opens the same file and serves the community. An owner that
loses ownership closes its server and becomes a follower again, in the same process. This is safe because its
file contains a prefix of the log, and its in-memory state is rebuilt from the file at the next takeover.
"""

import asyncio
import logging
import secrets
import sqlite3
import sys
import threading
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing, suppress
from datetime import UTC, datetime
from urllib.parse import urlsplit

from aiohttp import web

from svc.base import commit_log, logs
from svc.base.config_parsing import ConfigError
from svc.base.control_socket import listening
from svc.base.data_folder import hold
from svc.base.fair_loop import new_loop
from svc.base.garbage_collector import collect_rarely
from svc.base.http_server import SwitchableServer
from svc.base.listeners import address_of, tcp_sockets
from svc.base.metrics import Registry
from svc.base.migrations import schema_version
from svc.base.object_store_config import FILESYSTEM
from svc.base.open_file_limit import raise_limit
from svc.base.tasks import stop_event
from svc.chat import http_port
from svc.chat.app import Replication, serving
from svc.chat.authentication.trusted_issuers import read_or_create_server_id
from svc.chat.cluster import measurements
from svc.chat.cluster.config import ClusterConfig
from svc.chat.cluster.follower import Follower, TableCheck
from svc.chat.cluster.former_owner import READY_PATH, Handover
from svc.chat.cluster.membership import FOLLOWER, OWNER, STARTING, Membership, NodeStatus
from svc.chat.cluster.nats_connection import ClusterError
from svc.chat.cluster.nats_log import LogTrimmed, NatsLog
from svc.chat.cluster.nats_sync_check import refuse_lazy_servers
from svc.chat.cluster.node_commands import NodeCommands
from svc.chat.cluster.node_database import NodeDatabase
from svc.chat.cluster.owner_proxy import Proxy, session_to_owner
from svc.chat.cluster.relay_feed import Feed, ReplicatedHub
from svc.chat.cluster.relay_links import Facts, RelayLinks
from svc.chat.cluster.replica import Diverged, Replica
from svc.chat.cluster.standby import Standby
from svc.chat.cluster.takeover import take_over
from svc.chat.config import ChatConfig
from svc.chat.http_port import Flags
from svc.chat.pages.routes import WEB_FOLDER, Pages

_PAUSE_S = 0.5
# How long connections may take to finish their last responses during shutdown.
_SHUTDOWN_S = 1.0
# How long an elected node tries to catch up with the log before another node may try.
_TAKEOVER_S = 10.0
# How long the log may be unresponsive during shutdown. This is longer than the limit for requests in
# progress.
_END_DOUBT_S = 17.0

logger = logging.getLogger(__name__)


def run(config: ChatConfig, flags: Flags, cluster: ClusterConfig) -> None:
    """Run the node until SIGTERM or SIGINT. Raises ConfigError if it cannot start or continue."""
    logs.configure(sys.stderr, debug=False)
    raise_limit()
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(_run(config, flags, cluster))


async def _run(config: ChatConfig, flags: Flags, cluster: ClusterConfig) -> None:
    stop = stop_event()
    _refuse_split_uploads(config, cluster)
    try:
        if not cluster.trust_sync:
            if not cluster.system_servers:
                raise ClusterError(_NO_SYSTEM)
            await asyncio.to_thread(refuse_lazy_servers, cluster.system_servers)
        await Node(config, flags, cluster, stop).run()
    except ClusterError as fault:
        raise ConfigError(str(fault)) from None


class Node:
    """A node of a cluster. Call `run` once."""

    def __init__(self, config: ChatConfig, flags: Flags, cluster: ClusterConfig, stop: asyncio.Event) -> None:
        self._config, self._cluster = config, cluster
        self._loop = asyncio.get_running_loop()
        self._stop = stop
        # Set to wake up the node's task.
        self._changed = asyncio.Event()
        self._session = secrets.token_hex(8)
        self._state = STARTING
        self._position = 0, 0
        # The links to relays; None while another node owns the community.
        self._links: RelayLinks | None = None
        self._follower: Follower | None = None
        # The reason why this owner may no longer write; empty while it may.
        self._lost = ""
        # The node to which the operator hands over the community.
        self._next_owner = ""
        self._log = NatsLog(cluster.name, cluster.node, self._on_lost)
        self._database = NodeDatabase(config, cluster, self._log)
        self._membership = Membership(self._log, cluster, self._session, self._status, self._wake)
        self._check = TableCheck(self._database.path, self._membership, cluster.check_every)
        self._commands = NodeCommands(
            self._log, self._membership, self._session, self._hand_over_to, _places(config, cluster)
        )
        self._sockets = tcp_sockets(flags.listen_fds, config.host, config.port)
        self._files = flags.tls_files()
        self._flags = flags
        self._registry = Registry()
        self._measure(self._registry)
        self._handover: Handover
        self._switch: SwitchableServer
        self._address = ""
        self._url = cluster.url or address_of(self._sockets[0], "https" if self._files else "http")

    async def run(self) -> None:
        """Follow the log or serve the community until the node should stop. Raises ClusterError or
        ConfigError.
        """
        ending = asyncio.ensure_future(self._end_doubt())
        try:
            with hold(self._config.data_dir):
                await asyncio.to_thread(self._database.join)
            # After an update, prepare and cache the web client's files now. During a takeover, this would
            # take extra seconds.
            await asyncio.to_thread(Pages, WEB_FOLDER, data_dir=self._config.data_dir)
            await asyncio.to_thread(self._membership.start)
            try:
                async with self._accepting():
                    while not self._stop.is_set() and not self._membership.fatal:
                        if await self._follow():
                            await self._serve_as_owner()
            finally:
                await asyncio.to_thread(self._membership.stop)
        finally:
            ending.cancel()
            for opened in self._sockets:
                opened.close()
            await asyncio.to_thread(self._close_log)
        if self._membership.fatal:
            raise ClusterError(self._membership.fatal)

    @asynccontextmanager
    async def _accepting(self) -> AsyncIterator[None]:
        """Accept connections for the duration of the block. The standby server handles them unless `_port` is
        in use.
        """
        hops = self._config.trusted_proxy_hops
        async with session_to_owner() as http:
            self._handover = Handover(lambda: self._membership.owner, http)
            proxy = Proxy(self._handover.next_url, http)
            standby = Standby(
                self._health,
                self._registry.exposition,
                lambda: self._membership.owner.url,
                self._handover,
                proxy.serve,
            )
            async with standby.running(hops) as standing_by:
                switch = self._switch = SwitchableServer(standing_by)
                try:
                    async with http_port.accept_connections(
                        switch.server, self._sockets, self._files, http_port.table_of(hops, relayed=True)
                    ) as self._address:
                        yield
                finally:
                    self._handover.end()
                    await switch.server.shutdown(_SHUTDOWN_S)

    @asynccontextmanager
    async def _port(self, owner: web.Server) -> AsyncIterator[str]:
        """Let the owner's server handle requests for the duration of the block."""
        standing_by, self._switch.current = self._switch.current, owner
        self._handover.end()
        try:
            yield self._address
        finally:
            # Requests are passed on only after a planned handover. A node that has lost ownership
            # unexpectedly may be unable to reach the new owner.
            if self._next_owner and not self._stop.is_set():
                self._handover.begin(self._log.epoch)
            self._switch.current = standing_by

    async def _end_doubt(self) -> None:
        """Stop the log if it is unresponsive during this node's shutdown."""
        await self._stop.wait()
        self._database.is_given_up = True
        await asyncio.sleep(_END_DOUBT_S)
        self._log.stop()

    def _close_log(self) -> None:
        self._log.stop()
        with suppress(RuntimeError):  # The log was never opened.
            self._log.close()

    # Methods that follow the log.

    async def _follow(self) -> bool:
        """Follow the log. Return True once this node is elected and has fenced the previous owner, False if
        it must exit.
        """
        with hold(self._config.data_dir):
            async with listening(self._config.data_dir, self._commands.standing_by):
                self._state = FOLLOWER
                logger.info("standing by", extra={"address": self._address, "node": self._cluster.node})
                while not self._stop.is_set() and not self._membership.fatal:
                    try:
                        return await self._follow_log()
                    except (Diverged, LogTrimmed) as fault:
                        logger.error("the file is replaced by a snapshot", extra={"fault": str(fault)})
                        await asyncio.to_thread(self._database.await_snapshot)
        return False

    async def _follow_log(self) -> bool:
        """Apply the log to the current file until elected. Raises Diverged or LogTrimmed."""
        follower = await asyncio.to_thread(Follower, self._log, self._database.path, self._check)
        self._follower = follower
        try:
            while True:
                follower_task = asyncio.ensure_future(asyncio.to_thread(follower.run))
                try:
                    elected = await self._wait_elected(follower_task)
                finally:
                    follower.stop()
                    await follower_task
                if not elected:
                    return False
                if await asyncio.to_thread(self._take_over, follower.replica):
                    return True
                follower.resume()
        finally:
            self._position = follower.replica.sequence, follower.replica.epoch
            follower.replica.close()

    async def _wait_elected(self, follower_task: "asyncio.Future[None]") -> bool:
        """Wait until this node holds the lease. Return False if the node must exit or the follower has
        ended.
        """
        follower_task.add_done_callback(lambda _: self._changed.set())
        while not (self._stop.is_set() or self._membership.fatal or follower_task.done()):
            if self._membership.is_claimable and await asyncio.to_thread(self._claim):
                return True
            waiting = [asyncio.ensure_future(self._changed.wait()), asyncio.ensure_future(self._stop.wait())]
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in waiting:
                task.cancel()
            self._changed.clear()
        return False

    def _claim(self) -> bool:
        with closing(sqlite3.connect(self._database.path)) as connection:
            version = schema_version(connection)
        if version > len(self._database.migrations):
            logger.error("this version is too old to take over", extra={"schema": version})
            return False
        return self._membership.claim()

    def _take_over(self, replica: Replica) -> bool:
        """Replace the previous owner. Return whether this succeeded. Raises Diverged or LogTrimmed."""
        give_up_at = time.monotonic() + _TAKEOVER_S
        outage = logs.Outage(logger, "taking over again")
        started = time.monotonic()
        while self._membership.is_holding and time.monotonic() < give_up_at and not self._stop.is_set():
            try:
                take_over(self._log, replica, self._cluster.node)
            except (LogTrimmed, Diverged):
                self._membership.release()
                raise
            except (commit_log.LogLost, ClusterError, sqlite3.OperationalError) as fault:
                # The previous owner may have appended another entry.
                outage.failed(str(fault))
                time.sleep(0.05)
                continue
            took = f"{time.monotonic() - started:.3f}"
            logger.info("took over", extra={"epoch": replica.epoch, "seconds": took})
            return True
        self._membership.release()
        return False

    # Methods that serve the community.

    async def _serve_as_owner(self) -> None:
        """Serve until the node should stop or hand over, or another node owns the community."""
        self._lost = self._next_owner = ""
        last = self._log.sequence

        def before_append(sequence: int) -> None:
            nonlocal last
            if self._check.is_due(last, sequence):
                self._check.begin(sequence, publish=True)
            last = sequence

        self._log.before_append = before_append
        snapshots: asyncio.Task[None] | None = None
        try:
            async with serving(self._config, self._flags, self._replication()) as address:
                self._state = OWNER
                snapshots = asyncio.ensure_future(self._make_snapshots())
                logger.info("listening", extra={"address": address, "epoch": self._log.epoch})
                collect_rarely()
                await self._until_ended()
        except ConfigError:
            # An owner that is replaced during its startup cannot open its file.
            if not self._lost and self._membership.is_holding:
                raise
        finally:
            if snapshots is not None:
                snapshots.cancel()
            self._state, self._links = FOLLOWER, None
            self._position = self._log.sequence, self._log.epoch
            await asyncio.to_thread(self._membership.release, self._next_owner)

    def _replication(self) -> Replication:
        hub = ReplicatedHub(Feed(self._cluster.servers, self._cluster.name, self._log.epoch))
        links = self._links = RelayLinks(hub, self._membership.relay_key)
        media, identity = self._config.media, self._config.identity
        facts = Facts(
            read_or_create_server_id(identity.server_id, self._config.data_dir),
            self._config.allowed_origins,
            media.public_urls,
            len(media.services),
        )
        return Replication(
            self._log,
            self._commands.before,
            self._measure,
            hub,
            self._membership.is_certain,
            self._port,
            lambda community: [*links.routes(community, facts), web.get(READY_PATH, _ready)],
            links.run,
            links.close,
        )

    async def _until_ended(self) -> None:
        while not (self._stop.is_set() or self._lost or self._next_owner or self._membership.fatal):
            if not self._membership.is_holding:
                self._on_lost("another node holds the lease")
                break
            waiting = [asyncio.ensure_future(self._changed.wait()), asyncio.ensure_future(self._stop.wait())]
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in waiting:
                task.cancel()
            self._changed.clear()
        reason = self._lost or self._membership.fatal
        if reason:
            self._log.stop()
            logger.warning("no longer the owner", extra={"fault": reason})

    async def _make_snapshots(self) -> None:
        """Store a snapshot whenever there is none, or the newest one is too old."""
        while True:
            wait_s = _PAUSE_S
            with suppress(ClusterError):
                age_s = await asyncio.to_thread(self._database.snapshots.age_s)
                wait_s = self._cluster.snapshot_interval_s - (age_s or 0.0)
                if age_s is None or wait_s <= 0:
                    self._begin_snapshot()
                    wait_s = self._cluster.snapshot_interval_s
            await asyncio.sleep(max(wait_s, _PAUSE_S))

    def _begin_snapshot(self) -> None:
        """Store a snapshot on a daemon thread, which does not keep the process alive."""

        def store() -> None:
            try:
                sequence = self._database.snapshots.put(self._config.data_dir, self._database.path)
                logger.info("stored a snapshot", extra={"sequence": sequence})
            except ClusterError as fault:
                logger.error("storing a snapshot failed", extra={"fault": str(fault)})
            except RuntimeError:
                pass  # The log has been closed.

        threading.Thread(target=store, name="snapshot", daemon=True).start()

    # Methods that report the node's state.

    def _measure(self, registry: Registry) -> None:
        measurements.measure(registry, self._measurements)

    def _measurements(self) -> Mapping[str, float]:
        sequence, epoch = self._where()
        lag = max(0, self._membership.owner.sequence - sequence)
        values = (self._state == OWNER, epoch, sequence, lag)
        return dict(zip(measurements.DESCRIPTIONS, values, strict=True))

    def _status(self) -> NodeStatus:
        sequence, epoch = self._where()
        relays = self._links.statuses() if self._links is not None else ()
        return NodeStatus(self._cluster.node, self._session, self._url, self._state, epoch, sequence, relays)

    def _where(self) -> tuple[int, int]:
        if self._state == OWNER:
            return self._log.sequence, self._log.epoch
        follower = self._follower
        return (follower.replica.sequence, follower.replica.epoch) if follower is not None else self._position

    def _health(self) -> Mapping[str, object]:
        owner, (sequence, epoch) = self._membership.owner, self._where()
        return {
            "status": self._state,
            "service": "chat",
            "node": self._cluster.node,
            "owner": owner.node or None,
            "ownerUrl": owner.url or None,
            "epoch": epoch,
            "sequence": sequence,
            "lag": max(0, owner.sequence - sequence),
            "tablesAgreedAt": self._check.agreed_at,
            "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }

    def _hand_over_to(self, node: str) -> None:
        """Schedule a handover to a node. The handover is delayed, so that the operator gets the response
        first.
        """
        self._loop.call_later(_PAUSE_S, self._hand_over, node)

    def _hand_over(self, node: str) -> None:
        self._next_owner = node
        self._changed.set()

    # Methods that are called on other threads.

    def _on_lost(self, reason: str) -> None:
        self._lost = reason
        self._wake()

    def _wake(self) -> None:
        with suppress(RuntimeError):  # The loop has been closed.
            self._loop.call_soon_threadsafe(self._changed.set)


async def _ready(_: web.Request) -> web.Response:
    return web.json_response({})


def _places(config: ChatConfig, cluster: ClusterConfig) -> Mapping[str, object]:
    """Return the hosts of the NATS servers and of the SFUs, and the host or folder of the upload store."""
    storage = config.uploads.storage
    if storage.unusable_because:
        store = ""
    elif storage.backend == FILESYSTEM:
        store = storage.folder
    else:
        store = urlsplit(storage.s3.endpoint).hostname or "Amazon S3"
    return {
        "nats": [urlsplit(url).hostname for url in cluster.servers],
        "sfus": [urlsplit(service.url).hostname for service in config.media.services],
        "store": store,
        "is_folder": storage.backend == FILESYSTEM,
    }


def _refuse_split_uploads(config: ChatConfig, cluster: ClusterConfig) -> None:
    storage = config.uploads.storage
    if storage.backend == FILESYSTEM and not storage.disabled and not cluster.shared_uploads:
        raise ConfigError(
            "STORAGE_BACKEND is filesystem, so uploads would be lost with this node: use S3, set DISABLE_S3, "
            "or share one folder for uploads between all nodes and give --cluster-shared-uploads"
        )


_NO_SYSTEM = (
    "only NATS's system account can show whether NATS always syncs: set SVC_CLUSTER_SYSTEM to its "
    "addresses (nats://user:password@host:4222,…), or give --cluster-trust-sync"
)
