"""While all NATS servers are down, nodes and relays log only a few lines and can still stop normally."""

import asyncio
import signal
from pathlib import Path

import pytest

from svc.chat.cluster.nats_connection import connect, disconnect
from tests.kit.chat_nodes import chat_nodes, chat_relays
from tests.kit.nats_cluster import NAMES, NatsCluster, nats_cluster
from tests.kit.wait import wait_until

FLAGS = ("--cluster-trust-sync", "--cluster-lease", "1.5")
# A client tries to connect about 15 times within this period.
OUTAGE_S = 3.0


async def kill_all(servers: NatsCluster) -> None:
    for name in NAMES:
        await servers.kill(name)
    await asyncio.sleep(OUTAGE_S)


async def test_the_loss_of_one_nats_server_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with nats_cluster(tmp_path) as servers:
        client = await connect(servers.urls)
        try:
            lost = client.connected_url
            assert lost and lost.port
            await servers.kill(NAMES[servers.ports.index(lost.port)])

            async def is_logged() -> bool:
                return any(getattr(record, "server", None) for record in caplog.records)

            await wait_until("the lost connection is logged", is_logged, within_s=30)
            (record,) = (record for record in caplog.records if hasattr(record, "server"))
            assert record.server != f"{lost.hostname}:{lost.port}"
        finally:
            await disconnect(client)


async def test_a_nats_outage_causes_few_log_lines_and_no_traceback_on_shutdown(
    tmp_path: Path,
) -> None:
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, "ab", FLAGS) as nodes,
        chat_relays(servers.urls, ["r"]) as (relay,),
    ):
        await kill_all(servers)
        for name in NAMES:
            servers.start(name)
        await wait_until("NATS has a quorum", servers.has_quorum, within_s=60)
        for node in nodes:
            await wait_until(f"{node.name} is healthy", node.is_well, within_s=60)
        await wait_until("the relay is attached", relay.is_attached, within_s=60)

        await kill_all(servers)
        for process in (relay, *nodes):
            process.signal(signal.SIGTERM)
            status, output = await process.ended()
            assert status == 0, output
            assert "Traceback" not in output and "Task was destroyed" not in output, output
            about_nats = [line for line in output.splitlines() if "nats_connection" in line]
            beginnings = [line for line in about_nats if "NATS cannot be reached" in line]
            ends = [line for line in about_nats if "NATS can be reached again" in line]
            assert (len(beginnings), len(ends)) == (2, 1), output
            # This includes lines about a missing leader, which is not the same as an unreachable server.
            assert len(output.splitlines()) - output.count(" INFO ") <= 10, output
