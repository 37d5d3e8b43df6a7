"""Media and calls work through a relay just as they do directly on a chat server."""

import secrets
from contextlib import AsyncExitStack
from io import BytesIO
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, FormData

from tests.chat.chat_server import ChatServer
from tests.kit.aiortc_guests import ADA, GRACE
from tests.kit.caller import Caller, talk
from tests.kit.chat_nodes import ClusterProcess, chat_nodes, chat_relays, stopped_at_the_end, token_of
from tests.kit.cluster_callers import calls_at
from tests.kit.nats_cluster import nats_cluster
from tests.kit.sfu_process import running_sfu
from tests.kit.wait import eventually, wait_until

GENERAL = "/api/channels/general"
FLAGS = ("--cluster-trust-sync", "--cluster-lease", "1.5", "--cluster-shared-uploads")
IN_A_FOLDER = {"DISABLE_S3": "false", "STORAGE_BACKEND": "filesystem"}


async def test_a_file_is_uploaded_and_served_in_ranges_through_a_relay(tmp_path: Path) -> None:
    written = secrets.token_bytes(2_000_000)
    async with AsyncExitStack() as stack:
        servers = await stack.enter_async_context(nats_cluster(tmp_path))
        (node,) = await stack.enter_async_context(chat_nodes(tmp_path, servers.urls, "a", FLAGS, IN_A_FOLDER))
        (relay,) = await stack.enter_async_context(chat_relays(servers.urls, ["east"]))
        worker = ClusterProcess("worker", ["worker"])
        worker.variables |= node.variables
        await stack.enter_async_context(stopped_at_the_end([worker]))
        await worker.start()
        headers = {"Authorization": f"Bearer {await token_of(node, 'Ada')}"}
        member = await stack.enter_async_context(ClientSession(relay.address, headers=headers))
        http = await stack.enter_async_context(ClientSession(relay.address))

        form = FormData()
        form.add_field("file", BytesIO(written), filename="a.bin", content_type="application/octet-stream")
        async with member.post(f"{GENERAL}/uploads", data=form) as response:
            assert response.status == 201, await response.text()
            upload_id = (await response.json())["id"]

        async def is_stored() -> bool:
            async with member.get(f"/api/uploads/{upload_id}") as response:
                upload: dict[str, Any] = await response.json()
            return upload["result"] is not None

        await wait_until("the upload is stored", is_stored, within_s=60)
        body = {"text": "", "attachments": [upload_id]}
        async with member.post(f"{GENERAL}/messages", json=body) as response:
            assert response.status == 201, await response.text()
            [attached] = (await response.json())["attachments"]

        async with http.get(attached["url"]) as response:
            assert (response.status, await response.read()) == (200, written)
            tag = response.headers["ETag"]
        first = {"Range": "bytes=0-999"}
        async with http.get(attached["url"], headers=first) as response:
            assert (response.status, await response.read()) == (206, written[:1000])
            assert response.headers["Content-Range"] == f"bytes 0-999/{len(written)}"
        async with http.get(attached["url"], headers={"Range": "bytes=-1000"}) as response:
            assert (response.status, await response.read()) == (206, written[-1000:])
        async with http.get(attached["url"], headers={"Range": "bytes=3000000-"}) as response:
            assert response.status == 416
        async with http.get(attached["url"], headers=first | {"If-Range": '"another"'}) as response:
            assert (response.status, await response.read()) == (200, written)
        async with http.get(attached["url"], headers={"If-None-Match": tag}) as response:
            assert response.status == 304
        async with http.head(attached["url"]) as response:
            assert (response.status, response.content_length) == (200, len(written))


async def test_members_on_relays_see_and_hear_each_other_in_a_call(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        servers = await stack.enter_async_context(nats_cluster(tmp_path))
        sfu = await stack.enter_async_context(running_sfu())
        variables = calls_at(sfu)
        # The SFU has no public address, so signalling goes through the relay and the owner.
        del variables["SFU_PUBLIC_HOST"]
        (node,) = await stack.enter_async_context(chat_nodes(tmp_path, servers.urls, "a", FLAGS, variables))
        relays = await stack.enter_async_context(chat_relays(servers.urls, ["east", "west"]))
        clients = []
        for relay, name, voice in zip(relays, ("Ada", "Grace"), (ADA, GRACE), strict=True):
            http = await stack.enter_async_context(ClientSession(relay.address))
            chat = ChatServer(relay.address, http, "")
            member = await stack.enter_async_context(chat.member(name, await token_of(node, name)))
            caller = Caller(chat, member, voice)
            await caller.join()
            stack.push_async_callback(caller.client.leave)
            await eventually(f"{name} is in the call", lambda: caller.client.offers, within_s=30)  # noqa: B023
            clients.append(caller.client)
            async with http.get("/metrics") as response:
                assert "svc_relay_signalling_connections_active 1.0" in await response.text()
        await talk(*clients)
        assert sfu.faults == []
