"""Nodes and relays of different versions work in the same cluster, as they must during an upgrade."""

import sqlite3
from contextlib import closing
from pathlib import Path

from aiohttp import ClientSession

from svc.base.control_socket import ask
from svc.base.migrations import migrations_in, schema_version
from svc.chat.community import SCHEMA_FOLDER
from tests.chat.chat_server import ChatServer
from tests.chat.cluster.test_relays import member_at, next_text, post
from tests.kit.chat_nodes import ChatNode, ChatRelay, chat_nodes, chat_relays, owner_among, stopped_at_the_end
from tests.kit.nats_cluster import nats_cluster
from tests.kit.wait import wait_until

FLAGS = ("--cluster-trust-sync", "--cluster-lease", "1.5")
RUN = "import sys\nfrom svc.cli import main\nsys.exit(main())\n"
# A version with a different relay protocol.
OTHER_PROTOCOL = f"""
from svc.chat.cluster import relay_links
from svc.chat.cluster.relay import link

relay_links.PROTOCOL = link.PROTOCOL = 1000
{RUN}"""
# A version whose schema has one more table.
LATER_SCHEMA = f"""
import svc.chat.app
from svc.base.migrations import Migration, migrations_in
from svc.chat.cluster import node_database

def later(folder):
    known = migrations_in(folder)
    return [*known, Migration(len(known) + 1, "later", "CREATE TABLE later (number INTEGER) STRICT;")]

svc.chat.app.migrations_in = node_database.migrations_in = later
{RUN}"""

# A version that logs when it has prepared the web client's files.
PREPARES = f"""
import sys
from svc.chat.cluster import node

prepare = node.Pages

def prepare_and_report(*arguments, **named):
    prepare(*arguments, **named)
    print("the page is prepared", file=sys.stderr, flush=True)

node.Pages = prepare_and_report
{RUN}"""


async def move(first: ChatNode, second: ChatNode) -> None:
    await wait_until("the other node follows", second.follows, within_s=30)
    moved = await ask(first.data_dir, "cluster_move", {"node": second.name})
    assert moved == {"result": {"from": first.name, "to": second.name}}
    await owner_among([second])


async def test_each_relay_waits_for_an_owner_with_its_own_protocol_version(
    tmp_path: Path,
) -> None:
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, "a", FLAGS) as (first,),
        chat_relays(servers.urls, ["east"]) as (relay,),
        member_at(relay, first, "Ada") as ada,
    ):
        other, other_relay = ChatNode("b", tmp_path, servers.urls, FLAGS), ChatRelay("west", servers.urls)
        other.program = other_relay.program = OTHER_PROTOCOL
        async with stopped_at_the_end([other, other_relay]):

            async def is_refused() -> bool:
                return b"another version of the relay protocol" in other_relay.written

            # The updated relay starts before the updated owner.
            await other_relay.start()
            await other.start()
            await wait_until("the owner refuses the updated relay", is_refused, within_s=30)
            assert (await other_relay.health())["status"] == "no_owner"
            await move(first, other)
            await wait_until("the updated relay is attached", other_relay.is_attached, within_s=30)

            async def has_no_owner() -> bool:
                return (await relay.health()).get("status") == "no_owner"

            await wait_until("the relay has lost its owner", has_no_owner, within_s=30)
            # A second client connects to the updated relay.
            async with (
                ClientSession(other_relay.address) as http,
                ChatServer(other_relay.address, http, "").member("Ada", ada.token) as moved,
            ):
                await post(moved, "through the updated relay")
                assert await next_text(moved) == "through the updated relay"
            refused = await ada.ask(
                "message_send", channel_id="general", text="refused", nonce="a refused one"
            )
            assert refused["data"]["error"] == "server_stopping", refused
            await move(other, first)
            await ada.pushed("authenticated")
            await post(ada, "over the same socket")
            assert await next_text(ada) == "over the same socket"


async def test_a_node_of_an_older_version_follows_a_newer_schema_but_does_not_take_over(
    tmp_path: Path,
) -> None:
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, "a", FLAGS) as (older,),
    ):
        later = ChatNode("b", tmp_path, servers.urls, FLAGS)
        later.program = LATER_SCHEMA
        async with stopped_at_the_end([later]):
            await later.start()
            await move(older, later)
            await wait_until("the older node follows", older.follows, within_s=30)
            with closing(sqlite3.connect(older.data_dir / "community.sqlite3")) as connection:

                async def has_migrated() -> bool:
                    return schema_version(connection) == len(migrations_in(SCHEMA_FOLDER)) + 1

                await wait_until("the older node has the later schema", has_migrated, within_s=30)
            await later.kill()

            async def has_refused() -> bool:
                return b"this version is too old to take over" in older.written

            await wait_until("the older node refuses to take over", has_refused, within_s=30)
            assert (await older.health())["status"] == "follower"
            await later.start()
            await owner_among([later])


async def test_an_updated_follower_prepares_the_web_client_before_it_takes_over(tmp_path: Path) -> None:
    async with nats_cluster(tmp_path) as servers, chat_nodes(tmp_path, servers.urls, "a", FLAGS):
        updated = ChatNode("b", tmp_path, servers.urls, FLAGS)
        updated.program = PREPARES
        async with stopped_at_the_end([updated]):
            await updated.start()
            await wait_until("the updated node follows", updated.follows, within_s=30)
            assert b"the page is prepared" in updated.written
