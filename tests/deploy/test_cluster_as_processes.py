"""Runs the programs in the compose file and the chart as processes, with the same commands and variables."""

import json
import re
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientError, ClientSession, ClientTimeout, FormData
from ruamel.yaml import YAML

from tests.chat.chat_server import ChatServer
from tests.deploy.test_container import COMPOSE, CONTAINER, chart
from tests.kit.aiortc_guests import ADA
from tests.kit.caller import Caller
from tests.kit.containers import Deployment, Running, of_chart, of_compose, running
from tests.kit.external_programs import required
from tests.kit.namespace import in_namespace
from tests.kit.wait import eventually, wait_until

GENERAL = "/api/channels/general"
KEYS = ("jwtSecret", "serverPassword", "natsPassword", "natsSystemPassword", "s3AccessKey", "s3SecretKey")


def image_variables() -> dict[str, str]:
    """Return the variables that the image sets."""
    text = (CONTAINER / "Dockerfile").read_text()
    return dict(re.findall(r"^(?:ENV|   ) ([A-Z0-9_]+)=(\S+)", text, re.MULTILINE))


def compose() -> Deployment:
    (file,) = (path for path in COMPOSE if path.name == "cluster.yml")
    names = ("JWT_SECRET", "SERVER_PASSWORD", "NATS_PASSWORD", "NATS_SYSTEM_PASSWORD", "S3_SECRET")
    variables = {name: f"{number}{'a1' * 32}" for number, name in enumerate(names)}
    return of_compose(YAML(typ="safe").load(file), variables | {"ICE_ADVERTISE_IP": "127.0.0.1"})


def helm() -> Deployment:
    if not chart():
        pytest.skip("helm is not available for this machine")
    return of_chart(chart(), {key: f"s{number}{'a1' * 32}" for number, key in enumerate(KEYS)})


@pytest.mark.parametrize(("deployment", "proxy"), [(compose, "proxy"), (helm, "svc-proxy-0")])
def test_members_post_upload_and_call_and_a_dead_owner_is_replaced(
    deployment: Any, proxy: str, tmp_path: Path
) -> None:
    required("haproxy")
    deployed = deployment()
    hosts = tmp_path / "hosts"
    hosts.write_text(deployed.hosts_file())

    async def use() -> None:
        async with running(deployed, image_variables()) as processes:
            await _use(processes, deployed, f"http://{deployed.hosts[proxy]}:5000")

    in_namespace(use, [], {"/etc/hosts": hosts}, within_s=400)


async def _use(processes: Running, deployed: Deployment, address: str) -> None:
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(ClientSession(address, timeout=ClientTimeout(15)))
        nodes = {each.host for each in deployed.containers if each.arguments[:1] == ["chat"]}
        relays = {each.host for each in deployed.containers if each.arguments[:1] == ["relay"]}

        async def states() -> dict[str, str]:
            return {host: await _state(http, deployed.hosts[host]) for host in sorted(nodes | relays)}

        async def are_ready() -> bool:
            found = await states()
            of_nodes = sorted(found[host] for host in nodes)
            return of_nodes == ["follower", "follower", "healthy"] and all(
                found[host] == "healthy" for host in relays
            )

        await wait_until("three nodes and the relays are ready", are_ready, within_s=60)
        (owner,) = (host for host, state in (await states()).items() if host in nodes and state == "healthy")
        (node,) = (
            each for each in deployed.containers if each.host == owner and each.arguments[:1] == ["chat"]
        )
        folder = processes.volume(node.volumes["/data"])
        invite = next(folder.glob("**/invite-code")).read_text().strip()

        async def is_served() -> bool:
            async with http.get("/info") as response:
                return response.status == 200

        await wait_until("the proxy has found a relay", is_served, within_s=30)
        chat = ChatServer(address, http, invite)
        ada = await stack.enter_async_context(chat.member("Ada"))
        http.headers["Authorization"] = f"Bearer {ada.token}"
        await _upload(http)
        caller = Caller(chat, ada, ADA)
        await caller.join()
        stack.push_async_callback(caller.client.leave)
        await eventually("Ada is in the call", lambda: caller.client.offers, within_s=30)

        await processes.kill(owner)
        message = {"text": "after the takeover", "nonce": "the nonce of the takeover"}

        async def is_written() -> bool:
            try:
                async with http.post(f"{GENERAL}/messages", json=message) as response:
                    return response.status == 201
            except (ClientError, TimeoutError):
                return False

        await wait_until("another node accepts writes", is_written, within_s=30)
        await ada.pushed("authenticated")
        reply = await ada.ask("history", channel_id="general")
        assert [each["text"] for each in reply["data"]["messages"]].count("after the takeover") == 1


async def _state(http: ClientSession, host: str) -> str:
    try:
        async with http.get(f"http://{host}:5000/health") as response:
            return str((await response.json())["status"])
    except (ClientError, OSError, TimeoutError, json.JSONDecodeError):
        return ""


async def _upload(http: ClientSession) -> None:
    """Upload a file, wait until the owner's worker has stored it in the bucket, post it, and fetch it."""
    form = FormData()
    form.add_field("file", b"stored", filename="a.bin", content_type="application/octet-stream")
    async with http.post(f"{GENERAL}/uploads", data=form) as response:
        assert response.status == 201, await response.text()
        upload_id = (await response.json())["id"]

    async def is_stored() -> bool:
        async with http.get(f"/api/uploads/{upload_id}") as response:
            upload: dict[str, Any] = await response.json()
        return upload["result"] is not None

    await wait_until("the upload is stored", is_stored, within_s=60)
    async with http.post(f"{GENERAL}/messages", json={"text": "", "attachments": [upload_id]}) as response:
        assert response.status == 201, await response.text()
        [attached] = (await response.json())["attachments"]
    async with http.get(attached["url"]) as response:
        assert (response.status, await response.read()) == (200, b"stored")
