"""Tests the cluster's configuration files with real proxy and NATS servers."""

import asyncio
import re
import subprocess
import sys
import textwrap
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import ClientError, ClientSession
from ruamel.yaml import YAML

from svc.tools.cluster_demo import free_ports
from tests.chat.cluster.test_handover import move, posting
from tests.deploy.test_container import COMPOSE, REPOSITORY, chart
from tests.kit.chat_nodes import ClusterProcess, chat_nodes, chat_relays, token_of
from tests.kit.external_programs import required
from tests.kit.nats_cluster import nats_cluster
from tests.kit.wait import wait_until

FLAGS = ("--cluster-trust-sync", "--cluster-lease", "1.5")


def configurations(name: str) -> dict[str, str]:
    """Return a program's configuration for each deployment, keyed by the deployment's name."""
    (file,) = (path for path in COMPOSE if path.name == "cluster.yml")
    texts = {"compose": YAML(typ="safe").load(file)["configs"][name.partition(".")[0]]["content"]}
    for document in chart():
        if document["kind"] == "ConfigMap" and name in document["data"]:
            texts["helm"] = document["data"][name]
    return texts


def test_nats_accepts_its_configuration(tmp_path: Path) -> None:
    for file_name, text in configurations("nats.conf").items():
        file = tmp_path / file_name
        # Compose expands `${…}` itself. In its files, `$$` stands for a literal `$`.
        file.write_text(
            text.replace("$$", "$").replace("${", "{").replace("store_dir: /data", "store_dir: store")
        )
        checked = subprocess.run(
            (Path(sys.executable).with_name("nats-server"), "-t", "--config", str(file)),
            env={"HOSTNAME": "one", "POD_NAME": "one", "NATS_PASSWORD": "s1", "NATS_SYSTEM_PASSWORD": "s2"},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert checked.returncode == 0, f"{file_name}: {checked.stderr}"


@asynccontextmanager
async def haproxy(text: str, servers: Sequence[ClusterProcess], folder: Path) -> AsyncIterator[str]:
    """Run a deployment's proxy in front of local relays or nodes. Yield the proxy's address."""
    (port,) = free_ports(1)
    text = re.sub(r"^resolvers .*\Z", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r" init-addr .*$", "", text, flags=re.MULTILINE).replace("bind :5000", f"bind :{port}")
    addresses = iter(servers)
    text = re.sub(r"(server \S+) \S+:5000", lambda m: f"{m[1]} 127.0.0.1:{next(addresses).port}", text)
    file = folder / "haproxy.cfg"
    file.write_text(text)
    process = await asyncio.create_subprocess_exec(
        required("haproxy"), "-f", str(file), stdout=DEVNULL, stderr=DEVNULL
    )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


async def test_the_proxy_forwards_to_the_new_owner_after_a_relay_and_the_owner_die(
    tmp_path: Path,
) -> None:
    required("haproxy")
    text = configurations("haproxy.cfg")["compose"]
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, "ab", FLAGS) as nodes,
        chat_relays(servers.urls, ["one", "two"]) as relays,
        haproxy(text, relays, tmp_path) as address,
        ClientSession(address) as http,
    ):

        async def is_served() -> bool:
            try:
                async with http.get("/info") as answer:
                    return answer.status == 200
            except ClientError:
                return False

        await wait_until("the proxy has found a relay", is_served, within_s=20)
        await relays[0].kill()
        # If a connection is refused, the proxy tries the other relay even before a health check has failed.
        assert await is_served()
        await nodes[0].kill()
        await wait_until("the relay has found the next owner", is_served, within_s=30)


def documented_backend(name: str) -> str:
    """Return the proxy configuration of a backend from the documentation."""
    text = (REPOSITORY / "docs" / "cluster.md").read_text()
    match = re.search(rf"^ *# HAProxy\n( *backend {name}\n.*?)^ *```$", text, flags=re.M | re.S)
    assert match is not None
    return textwrap.dedent(match[1])


async def test_no_request_through_the_documented_node_proxy_is_lost_during_a_move(
    tmp_path: Path,
) -> None:
    required("haproxy")
    # This test does not run the third server in the documentation.
    backend = "".join(
        line for line in documented_backend("chat").splitlines(keepends=True) if "server three" not in line
    )
    text = (
        "defaults\n  mode http\n  timeout connect 5s\n  timeout client 1m\n  timeout server 1m\n"
        f"frontend everyone\n  bind :5000\n  default_backend chat\n{backend}"
    )
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, "ab", FLAGS) as (first, second),
        haproxy(text, [first, second], tmp_path) as address,
    ):
        headers = {"Authorization": f"Bearer {await token_of(first, 'Ada')}"}
        async with ClientSession(address, headers=headers) as http:

            async def is_served() -> bool:
                # The proxy uses round robin, and considers each server healthy until its first check.
                try:
                    for _ in range(4):
                        async with http.get("/info") as answer:
                            if answer.status != 200:
                                return False
                except ClientError:
                    return False
                return True

            async def is_out_of_service() -> bool:
                async with http.get(first.address + "/cluster/ready") as answer:
                    return answer.status == 503

            await wait_until("the proxy has found the owner", is_served, within_s=20)
            async with posting(http).running("writer") as writer:
                await move(first, second)
                await wait_until("the proxy no longer uses it", is_out_of_service, within_s=30)
                count = len(writer.sent)

                async def goes_on() -> bool:
                    return len(writer.sent) > count + 3

                await wait_until("the writer continues", goes_on, within_s=20)
            assert writer.failures == [], writer.failures


def test_haproxy_accepts_its_configuration(tmp_path: Path) -> None:
    for file_name, text in configurations("haproxy.cfg").items():
        file = tmp_path / file_name
        file.write_text(text)
        checked = subprocess.run(
            (required("haproxy"), "-c", "-f", str(file)),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert checked.returncode == 0, f"{file_name}: {checked.stderr}"
