"""The cluster's configuration files, and the proxy and NATS servers that use them."""

import asyncio
import re
import subprocess
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import ClientError, ClientSession
from ruamel.yaml import YAML

from svc.tools.cluster_demo import free_ports
from tests.deploy.test_container import COMPOSE, chart
from tests.kit.chat_nodes import ChatRelay, chat_nodes, chat_relays
from tests.kit.conditions import wait_until
from tests.kit.external_programs import required
from tests.kit.nats_cluster import nats_cluster

FLAGS = ("--cluster-trust-sync", "--cluster-lease", "1.5")


def configurations(name: str) -> dict[str, str]:
    """Return a program's configuration for each deployment, keyed by the deployment's name."""
    (file,) = (path for path in COMPOSE if path.name == "cluster.yml")
    found = {"compose": YAML(typ="safe").load(file)["configs"][name.partition(".")[0]]["content"]}
    for document in chart():
        if document["kind"] == "ConfigMap" and name in document["data"]:
            found["helm"] = document["data"][name]
    return found


def test_nats_accepts_its_configuration(tmp_path: Path) -> None:
    for place, text in configurations("nats.conf").items():
        file = tmp_path / place
        # Compose expands `${…}` itself, and a literal `$` is written as `$$`.
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
        assert checked.returncode == 0, f"{place}: {checked.stderr}"


@asynccontextmanager
async def haproxy(text: str, relays: list[ChatRelay], folder: Path) -> AsyncIterator[str]:
    """Run a deployment's proxy in front of relays on this machine. Yield the proxy's address."""
    (port,) = free_ports(1)
    text = re.sub(r"^resolvers .*\Z", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r" init-addr .*$", "", text, flags=re.MULTILINE).replace("bind :5000", f"bind :{port}")
    addresses = iter(relays)
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


async def test_the_proxy_forwards_to_the_new_owner_after_a_relay_and_the_owner_have_died(
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
        # The proxy retries a refused connection with the other relay before any health check has failed.
        assert await is_served()
        await nodes[0].kill()
        await wait_until("the relay has found the next owner", is_served, within_s=30)


def test_haproxy_accepts_its_configuration(tmp_path: Path) -> None:
    for place, text in configurations("haproxy.cfg").items():
        file = tmp_path / place
        file.write_text(text)
        checked = subprocess.run(
            (required("haproxy"), "-c", "-f", str(file)),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert checked.returncode == 0, f"{place}: {checked.stderr}"
