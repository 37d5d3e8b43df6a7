"""A session continues while its client has no WebSocket, and is resumed over a new one.

See docs/signalling.md, "Session resumption".
"""

import asyncio

import pytest

from svc.sfu.connectivity import PathSilent
from svc.sfu.session import RESUME_WITHIN_S, Session
from tests.kit.negotiation import MIC, OPUS
from tests.kit.sdp_answers import AnsweringClient
from tests.kit.signalling_server import SECRET, SignallingServer, Socket, signalling_server
from tests.kit.virtual_time import in_virtual_time
from tests.kit.wait import wait_until

REFUSED = (4003, "The session no longer exists")


class Client:
    """A participant that exchanges media and can resume its session."""

    def __init__(self, server: SignallingServer, socket: Socket, session: Session, credential: str) -> None:
        self._server, self.socket, self.session, self.credential = server, socket, session, credential

    async def resume(self, credential: str = "") -> None:
        """Resume the session over another socket. Return once the service's offer has arrived. The offer is
        left unanswered.
        """
        self.socket = await self.try_resume(credential)
        self.resumed = await self.socket.hear("session_resumed")
        assert await self.socket.hear("active_speakers") == {"user_ids": []}
        await self.socket.hear("path_back")
        self.credential = (await self.socket.hear("resumable"))["credential"]
        self.socket.offer = await self.socket.hear("offer")

    async def try_resume(self, credential: str = "") -> Socket:
        socket = await self._server.connect("/client")
        await socket.send("client_resume", {"credential": credential or self.credential})
        return socket

    async def refused(self, credential: str = "") -> tuple[int | None, str]:
        socket = await self.try_resume(credential)
        await socket.hear("room_error")
        return await socket.ending()


async def joined(server: SignallingServer, user_id: str) -> Client:
    known = set(server.sfu.sessions)
    socket = await server.ask_to_join(user_id, resumable=True)
    await socket.hear("room_joined")
    resumable = await socket.hear("resumable")
    assert resumable["within_s"] == RESUME_WITHIN_S
    socket.offer = await socket.hear("offer")
    await socket.answer(AnsweringClient(sends={MIC: f"{user_id} {user_id}"}))
    (session,) = set(server.sfu.sessions) - known
    await answered(socket)
    media_flows(session)
    return Client(server, socket, session, resumable["credential"])


async def answered(socket: Socket) -> None:
    await socket.send("keep_alive", {"timestamp": 1})
    await socket.hear("keep_alive")


def media_flows(session: Session) -> None:
    """Mark media as flowing, because no media flows in the recorded media plane of these tests."""
    session._connectivity._has_path = session._connectivity._secured = True


async def away(client: Client) -> None:
    client.socket.vanish()

    async def noticed() -> bool:
        return client.session.away or client.session.closed

    await wait_until("the service has noticed the lost connection", noticed, within_s=30)


@in_virtual_time
async def test_a_resumed_session_gets_the_events_that_happened_in_the_meantime() -> None:
    async with signalling_server() as server:
        control = await server.control()
        ann, ben = await joined(server, "ann"), await joined(server, "ben")
        for user_id in ("ann", "ben"):
            assert (await control.hear("peer_joined"))["user_id"] == user_id
        await away(ann)
        ben.session.track_started(MIC, 7, OPUS)
        # Ann stays in the room throughout, and the chat server gets no other event.
        assert await control.sync() == [{"room_id": "lobby", "user_ids": ["ann", "ben"]}]

        await ann.resume()

        assert ann.resumed == {"room_id": "lobby", "user_id": "ann", "peers": ["ben"]}
        assert [track["user_id"] for track in ann.socket.offer["tracks"].values()] == ["ben"]
        await ann.socket.answer()
        await answered(ann.socket)
        assert not ann.session.away and len(server.plane.transports) == 2
        assert await control.sync() == [{"room_id": "lobby", "user_ids": ["ann", "ben"]}]


@in_virtual_time
async def test_an_unanswered_offer_is_repeated_after_resumption() -> None:
    async with signalling_server() as server:
        await server.control()
        ann = await joined(server, "ann")
        await ann.socket.send("renegotiate", {})
        await ann.socket.hear("offer")
        await away(ann)
        await asyncio.sleep(RESUME_WITHIN_S / 2 + 1)  # Longer than the deadline for an answer.
        await ann.resume()
        await ann.socket.answer()
        await answered(ann.socket)


@pytest.mark.parametrize("code", [1000, 1001])
@in_virtual_time
async def test_a_client_that_closes_its_connection_properly_leaves_immediately(code: int) -> None:
    async with signalling_server() as server:
        control = await server.control()
        ann = await joined(server, "ann")
        await control.hear("peer_joined")
        await ann.socket.close(code)
        assert await control.hear("peer_left") == {"room_id": "lobby", "user_id": "ann"}
        assert await ann.refused() == REFUSED


@in_virtual_time
async def test_a_client_that_does_not_support_resumption_is_removed_immediately() -> None:
    async with signalling_server() as server:
        control = await server.control()
        ann = await server.join("ann")
        await control.hear("peer_joined")
        (session,) = server.sfu.sessions
        media_flows(session)
        ann.vanish()
        assert await control.hear("peer_left") == {"room_id": "lobby", "user_id": "ann", "lost": True}


@in_virtual_time
async def test_a_client_without_media_is_removed_when_its_connection_breaks() -> None:
    async with signalling_server() as server:
        control = await server.control()
        ann = await joined(server, "ann")
        await control.hear("peer_joined")
        await away(ann)
        ann.session._connectivity.outcomes.append(PathSilent())
        ann.session.advance()
        assert (await control.hear("peer_left"))["lost"] is True
        assert await ann.refused() == REFUSED


@in_virtual_time
async def test_a_session_that_is_not_resumed_within_30_s_is_closed() -> None:
    async with signalling_server() as server:
        control = await server.control()
        ann = await joined(server, "ann")
        await control.hear("peer_joined")
        since = asyncio.get_running_loop().time()
        await away(ann)
        assert (await control.hear("peer_left"))["lost"] is True
        assert asyncio.get_running_loop().time() - since == pytest.approx(RESUME_WITHIN_S, abs=2)
        assert await ann.refused() == REFUSED
        assert server.plane.transports[0].closed and server.sfu.sessions == set()


@in_virtual_time
async def test_a_credential_is_valid_until_the_client_has_received_its_successor() -> None:
    async with signalling_server() as server:
        await server.control()
        ann = await joined(server, "ann")
        first = ann.credential
        for _ in range(3):  # Each connection breaks before the client has read the next credential.
            await ann.resume(first)
            await away(ann)
        await ann.resume(first)
        await ann.socket.answer()
        await answered(ann.socket)
        assert await ann.refused(first) == REFUSED
        assert await ann.refused("a guess") == REFUSED
        await ann.resume()


@in_virtual_time
async def test_a_session_belongs_to_one_connection_at_a_time() -> None:
    async with signalling_server() as server:
        control = await server.control()
        ann = await joined(server, "ann")
        await control.hear("peer_joined")
        before = ann.socket
        await ann.resume()
        assert await before.ending() == (4001, "Resumed over another connection")
        assert await control.sync() == [{"room_id": "lobby", "user_ids": ["ann"]}]


@pytest.mark.parametrize("how", ["disconnected", "replaced"])
@in_virtual_time
async def test_a_client_that_was_removed_while_disconnected_is_notified(how: str) -> None:
    async with signalling_server() as server:
        control = await server.control()
        ann = await joined(server, "ann")
        await control.hear("peer_joined")
        await away(ann)
        key = {"room_id": "lobby", "user_id": "ann"}
        if how == "disconnected":
            await control.send("disconnect_user", {**key, "server_id": "home", "server_password": SECRET})
            assert await control.hear("peer_left") == key
            expected = (4004, "Disconnected by the server")
        else:
            await joined(server, "ann")
            expected = (4001, "Joined again from elsewhere")
        assert await ann.refused() == expected
        await asyncio.sleep(RESUME_WITHIN_S + 1)
        assert await ann.refused() == REFUSED


@in_virtual_time
async def test_permissions_changed_in_the_meantime_apply_to_a_resumed_session() -> None:
    async with signalling_server() as server:
        control = await server.control()
        ann = await joined(server, "ann")
        await away(ann)
        caps = {"room_id": "lobby", "user_id": "ann", "server_id": "home", "server_password": SECRET}
        await control.hear("peer_joined")
        await control.send("user_caps", {**caps, "caps": []})
        await control.sync()
        await ann.resume()
        assert ann.socket.offer["sdp"].count("a=inactive") == 4
