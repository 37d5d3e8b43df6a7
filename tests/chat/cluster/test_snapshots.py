"""A follower that needs entries no longer in the log restarts from a newer snapshot."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import nats
from aiohttp import ClientSession
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from tests.kit.chat_nodes import ChatNode, chat_nodes, token_of
from tests.kit.nats_cluster import nats_cluster
from tests.kit.wait import wait_until

FLAGS = ("--cluster-trust-sync", "--cluster-lease", "1.5", "--cluster-snapshot-every", "1")
MESSAGES = "/api/channels/general/messages"


async def positions(stream: JetStreamContext) -> list[int]:
    """Return the log positions of all snapshots, oldest first."""
    try:
        stored = await (await stream.object_store("svc-snapshots")).list()
    except NotFoundError:
        return []
    return sorted(int(info.name) for info in stored)


def texts_in(node: ChatNode) -> Sequence[str]:
    with closing(sqlite3.connect(node.data_dir / "community.sqlite3")) as connection:
        rows = connection.execute("SELECT text FROM messages WHERE text != '' ORDER BY n")
        return [text for (text,) in rows]


async def test_a_follower_that_needs_deleted_log_entries_starts_from_the_newest_snapshot(
    tmp_path: Path,
) -> None:
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, "ab", FLAGS) as (owner, follower),
        ClientSession(
            owner.address, headers={"Authorization": f"Bearer {await token_of(owner, 'Ada')}"}
        ) as http,
    ):
        client = await nats.connect(servers.urls)
        stream = client.jetstream()
        try:

            async def post(text: str) -> int:
                """Post a message. Return the log's new end."""
                async with http.post(MESSAGES, json={"text": text}) as response:
                    assert response.status == 201, await response.text()
                return (await stream.stream_info("svc")).state.last_seq

            async def is_in_a_snapshot() -> bool:
                return max([0, *await positions(stream)]) >= end

            await post("before")
            await follower.kill()
            await post("missed")
            end = await post("missed too")
            # Snapshots are created periodically, not only at startup.
            await wait_until("a later snapshot has the messages", is_in_a_snapshot, within_s=60)
            await stream.purge_stream("svc", seq=end)
            await follower.start()
            await wait_until("the follower follows", follower.follows, within_s=60)
            end = await post("after")

            async def has_followed() -> bool:
                return int((await follower.health()).get("sequence", 0)) >= end

            await wait_until("the follower has the whole log", has_followed, within_s=60)
            assert list(texts_in(follower)) == ["before", "missed", "missed too", "after"]
            assert b"the file is replaced by a snapshot" in follower.written
        finally:
            await client.close()
