"""The relay of `svc up --cluster-demo` forwards to the owner node, and to the next owner once the first is
killed.
"""

import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

from aiohttp import ClientError, ClientSession, ClientTimeout

from svc.base.control_socket import ControlFailed, NotRunning, ask
from svc.base.signalling_codec import serialise
from tests.chat.chat_server import ChatServer
from tests.kit.device import Device
from tests.kit.wait import wait_until

MESSAGES = "/api/channels/general/messages"
NODES = ("one", "two", "three")


async def owner_in(folder: Path) -> str:
    """Return the owner's name from any node that responds, or an empty string if no node has an owner."""
    for name in NODES:
        try:
            result = (await ask(folder / f"node-{name}", "cluster_status", {})).get("result")
        except (NotRunning, ControlFailed):
            continue
        if isinstance(result, dict) and result["owner"]:
            return str(result["owner"])
    return ""


async def test_the_demo_relay_follows_the_owner_and_all_processes_stop_with_the_command(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "cluster-demo"
    demo = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "svc.cli", "up", "--cluster-demo", "--data-dir", str(tmp_path)),
        *("--port", "0", "--sfu-port", "0", "--udp-port", "0"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert demo.stdout is not None
    try:
        async with asyncio.timeout(120):
            line = (await demo.stdout.readline()).decode()
        address, _, invite = line.removeprefix("Open ").strip().partition("/#invite=")
        async with ClientSession(address) as http:
            server = ChatServer(address, http, invite)
            signed_in = await server.sign_in(Device(), nickname="Ada", invite_code=invite)
            async with http.ws_connect("/sfu/client") as signalling:
                stranger = {"room_id": "general", "server_id": "x", "user_id": "x", "server_password": "x"}
                await signalling.send_str(serialise("client_join", stranger))
                assert (await signalling.receive_json())["event"] == "room_error", "the SFU responds"
        headers = {"Authorization": f"Bearer {signed_in['access_token']}"}

        async def post(text: str) -> bool:
            try:
                async with (
                    ClientSession(address, headers=headers, timeout=ClientTimeout(20)) as http,
                    http.post(MESSAGES, json={"text": text}) as response,
                ):
                    return response.status == 201
            except (ClientError, OSError, TimeoutError):
                return False

        assert await post("before")
        owner = await owner_in(folder)
        os.kill(int((folder / f"node-{owner}" / "lock").read_text()), signal.SIGKILL)
        await wait_until("the next owner accepts a message", lambda: post("after"), within_s=30)
        async with ClientSession(address, headers=headers) as http, http.get(MESSAGES) as page:
            texts = [message["text"] for message in (await page.json())["messages"]]
        assert "before" in texts and "after" in texts
    finally:
        demo.terminate()
        async with asyncio.timeout(120):
            assert await demo.wait() == 0
    for name in NODES:
        configuration = (folder / f"nats-{name}.conf").read_text()
        port = int(configuration.partition("listen: 127.0.0.1:")[2].partition("\n")[0])
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", port)) != 0, "a NATS server is still running"
