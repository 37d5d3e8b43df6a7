"""After a takeover, clients keep their list of online members and get only the changes."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from aiohttp import ClientSession

from svc.chat.messages.presence import RETURN_GRACE_S
from tests.chat.chat_server import ChatServer
from tests.chat.cluster.test_relays import FLAGS, member_at, next_text, post
from tests.chat.live_member import LiveMember
from tests.kit.chat_nodes import chat_nodes, chat_relays, owner_among
from tests.kit.nats_cluster import nats_cluster

PRESENT = ("online", "idle", "do_not_disturb")
# The time limit includes a margin, because the remaining node may be slow on a busy machine.
WITHIN_S = RETURN_GRACE_S + 45


async def presence_of(watcher: LiveMember, member_id: str) -> tuple[bool, bool]:
    """Wait for the next event about a member. Return its `online` and `idle` flags."""
    while (presence := await watcher.pushed("presence"))["member_id"] != member_id:
        pass
    return presence["online"], presence["idle"]


async def until_away(watcher: LiveMember, member_id: str) -> list[Any]:
    """Return the presence events up to and including the one in which the member goes offline."""
    events: list[Any] = []
    async with asyncio.timeout(WITHIN_S):
        while not events or events[-1]["member_id"] != member_id or events[-1]["online"]:
            events.append(await watcher.pushed("presence"))
    return events


async def test_clients_keep_their_online_members_and_learn_only_who_has_not_come_back(
    tmp_path: Path,
) -> None:
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, "ab", FLAGS) as (first, second),
        chat_relays(servers.urls, ["east", "west"]) as (east, west),
        member_at(east, first, "Ada", keeps_online=True) as ada,
        member_at(east, first, "Grace", keeps_online=True) as grace,
        member_at(west, first, "Edsger") as edsger,
        member_at(west, first, "Alan", keeps_online=True) as alan,
        member_at(west, first, "Barbara") as older,
    ):
        assert await presence_of(ada, alan.id) == (True, False)
        await grace.ask("idle", idle=True)
        for watcher in (ada, edsger, alan):
            assert await presence_of(watcher, grace.id) == (True, True)

        await first.kill()
        await edsger.ws.close()
        await owner_among([second])
        for member in (ada, grace, alan):
            state = await member.pushed("authenticated")
            assert state["member"]["id"] == member.id
            assert not state.keys() & PRESENT
        # A client of an earlier version gets all online members, including the one who may still come back.
        state = await older.pushed("authenticated")
        expected = sorted(member.id for member in (ada, grace, alan, edsger, older))
        assert state["online"] == expected and state["idle"] == [grace.id]
        await post(ada, "after the takeover")
        assert [await next_text(member) for member in (ada, grace, alan)] == ["after the takeover"] * 3

        # A client that signs in now also gets all of them.
        async with (
            ClientSession(west.address) as http,
            ChatServer(west.address, http, "").member("Ada", ada.token) as later,
        ):
            assert later.welcome["online"] == expected
            assert later.welcome["idle"] == [grace.id]

        for member in (ada, grace, alan):
            events = await until_away(member, edsger.id)
            assert [(event["member_id"], event["online"]) for event in events] == [(edsger.id, False)]


async def test_clients_get_changes_between_their_last_event_and_their_new_state(tmp_path: Path) -> None:
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, "ab", FLAGS) as (first, second),
        chat_relays(servers.urls, ["east"]) as (east,),
        member_at(east, first, "Ada", keeps_online=True) as ada,
        member_at(east, first, "Grace", keeps_online=True) as grace,
        ClientSession(second.address) as http,
        AsyncExitStack() as stack,
    ):
        assert await presence_of(ada, grace.id) == (True, False)
        with east.paused():
            await first.kill()
            await owner_among([second])
            # A member changes their status directly at the new owner before the relay attaches.
            signing_in = ChatServer(second.address, http, "").member("Grace", grace.token)
            elsewhere = await stack.enter_async_context(signing_in)
            await elsewhere.ask("quiet_set", quiet=True)
        state = await ada.pushed("authenticated")
        assert not state.keys() & PRESENT
        presence = await ada.pushed("presence")
        assert presence["member_id"] == grace.id and presence["do_not_disturb"]
