"""Nodes do not start if a NATS stream or bucket has weaker guarantees than a cluster needs.

An operator may have created or edited these streams and buckets. The error names the setting.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import nats
import pytest
from nats.js.api import ObjectStoreConfig, RetentionPolicy, StorageType, StreamConfig
from nats.js.errors import NotFoundError

from svc.chat.cluster.nats_connection import ClusterError
from svc.chat.cluster.nats_log import RETENTION_S, NatsLog
from svc.chat.cluster.snapshots import Snapshots
from tests.kit.chat_nodes import ChatNode
from tests.kit.nats_cluster import nats_cluster
from tests.kit.tcp_server import relay, tcp_server

DAY_S = 24 * 3600.0
SUFFICIENT: dict[str, Any] = {
    "storage": StorageType.FILE,
    "num_replicas": 3,
    "max_age": RETENTION_S,
    "allow_direct": True,
}
WEAK_STREAMS: list[tuple[dict[str, Any], str]] = [
    ({"num_replicas": 1}, "has 1 replicas and needs 3"),
    ({"storage": StorageType.MEMORY}, "is stored in memory"),
    ({"max_age": 6 * DAY_S}, "keeps messages for 6 days and needs 8"),
    ({"max_bytes": 1_000_000}, "set max_bytes to -1 instead of 1000000"),
    ({"max_msgs": 10}, "set max_msgs to -1 instead of 10"),
    ({"max_msgs_per_subject": 10}, "set max_msgs_per_subject to -1 instead of 10"),
    ({"max_msg_size": 1000}, "set max_msg_size to -1 instead of 1000"),
    ({"retention": RetentionPolicy.WORK_QUEUE}, "set its retention policy to limits"),
    ({"allow_direct": False}, "set allow_direct"),
]
WEAK_BUCKETS: list[tuple[dict[str, Any], str]] = [
    ({"replicas": 1}, "has 1 replicas and needs 3"),
    ({"storage": StorageType.MEMORY}, "is stored in memory"),
    ({"ttl": DAY_S}, "keeps messages for 1 days and needs 8"),
]


async def test_a_stream_that_may_lose_entries_is_rejected_with_the_setting_to_change(tmp_path: Path) -> None:
    async with nats_cluster(tmp_path) as servers:
        client = await nats.connect(servers.urls)
        stream = client.jetstream()
        try:
            for weakness, reason in [*WEAK_STREAMS, ({}, "")]:
                with suppress(NotFoundError):
                    await stream.delete_stream("words")
                await stream.add_stream(
                    StreamConfig(**{"name": "words", "subjects": ["words.log"], **SUFFICIENT, **weakness})
                )
                log = NatsLog("words", "one", lambda _: None)
                if reason:
                    with pytest.raises(ClusterError, match=f"the stream words .*{reason}"):
                        await asyncio.to_thread(log.open, servers.urls)
            snapshots = Snapshots(log, "words", 3)
            try:
                await asyncio.to_thread(log.open, servers.urls)
                await asyncio.to_thread(snapshots.check)
                for weakness, reason in WEAK_BUCKETS:
                    config = ObjectStoreConfig(**{"replicas": 3, **weakness})
                    await stream.create_object_store("words-snapshots", config)
                    with pytest.raises(ClusterError, match=f"the bucket words-snapshots .*{reason}"):
                        await asyncio.to_thread(snapshots.check)
                    await stream.delete_object_store("words-snapshots")
                await stream.create_object_store("words-snapshots", ObjectStoreConfig(replicas=3))
                await asyncio.to_thread(snapshots.check)
            finally:
                await asyncio.to_thread(log.close)
        finally:
            await client.close()


async def test_a_node_does_not_start_with_a_stream_or_bucket_of_weaker_guarantees(tmp_path: Path) -> None:
    async with nats_cluster(tmp_path) as servers:
        client = await nats.connect(servers.urls)
        stream = client.jetstream()

        async def refusal(*flags: str) -> str:
            node = ChatNode("a", tmp_path, servers.urls, ("--cluster-trust-sync", *flags))
            await node.start()
            try:
                status, output = await node.ended()
            finally:
                await node.kill()
            assert status == 2, output
            return output

        try:
            await stream.create_object_store("svc-snapshots", ObjectStoreConfig(replicas=1))
            assert "the bucket svc-snapshots has 1 replicas and needs 3" in await refusal()
            sufficient = StreamConfig(name="svc", subjects=["svc.log"], **SUFFICIENT)
            await stream.add_stream(sufficient)
            refused = await refusal("--cluster-keep-days", "14")
            assert "the stream svc keeps messages for 8 days and needs 15" in refused
        finally:
            await client.close()


@asynccontextmanager
async def server_that_announces(version: str, port: int) -> AsyncIterator[str]:
    """Run a proxy to a NATS server. It replaces the version in the server's greeting. Yield its URL."""

    async def replace(data: bytes) -> bytes:
        return re.sub(rb'"version":"[^"]*"', b'"version":"%s"' % version.encode(), data)

    async with tcp_server(lambda reader, writer: relay(reader, writer, port, to_client=replace)) as proxy:
        yield f"nats://127.0.0.1:{proxy.sockets[0].getsockname()[1]}"


async def test_a_nats_server_that_cannot_read_the_log_in_batches_is_rejected(tmp_path: Path) -> None:
    async with nats_cluster(tmp_path) as servers:
        async with server_that_announces("2.10.29", servers.ports[0]) as url:
            log = NatsLog("words", "one", lambda _: None)
            with pytest.raises(ClusterError, match=r"NATS 2\.10 .* update it to 2\.11"):
                await asyncio.to_thread(log.open, [url])
        async with server_that_announces("2.11.0", servers.ports[0]) as url:
            log = NatsLog("words", "one", lambda _: None)
            await asyncio.to_thread(log.open, [url])
            await asyncio.to_thread(log.close)
