"""The benchmarks can run third-party SFUs and report their failures. Janus is tested if it is installed."""

import asyncio
import os
import signal
import sys

import pytest

from benchmarks.janus.program import program, where_it_is
from benchmarks.janus.room_clients import MID, janus, offer
from benchmarks.janus.session import connected
from benchmarks.peers import program as peer_program
from benchmarks.sfu_comparison import silent
from svc.sfu.codecs import MID as MID_EXTENSION
from svc.sfu.codecs import TRANSPORT_CC
from svc.sfu.ice import IceCredentials
from svc.sfu.sdp import SessionDescription
from svc.tools.bench.errors import BenchError
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.sdp_answer import Terms
from svc.tools.cluster_demo import free_ports

needs_janus = pytest.mark.skipif(where_it_is() is None, reason="janus is not installed")


@needs_janus
@pytest.mark.parametrize("scenario", [Scenario(2, 3), Scenario(3, 0, size=100, audio=True)])
async def test_janus_forwards_every_packet_to_every_receiver(scenario: Scenario) -> None:
    async with janus(scenario) as meter:
        await meter.warm_up(50, 0.2)
        measurement = await meter.measure(50, 0.5, silent)
    assert measurement.sent > 0
    assert measurement.received == measurement.sent * scenario.receivers_of_each
    assert (measurement.lost, measurement.forged) == (0, 0)
    assert measurement.authenticated > 0
    assert measurement.cpu_us_per_packet is not None
    assert meter.pid is not None
    with pytest.raises(ProcessLookupError):
        os.kill(meter.pid, 0)


@needs_janus
async def test_an_error_from_janus_is_reported_with_its_own_message() -> None:
    async with program() as (url, _), connected(url) as (session, _):
        await session.create()
        handle = await session.attach()
        with pytest.raises(BenchError, match=r"Janus says: No such room"):
            await handle.ask({"request": "join", "ptype": "publisher", "room": 7})


@needs_janus
async def test_a_janus_process_that_exits_is_detected_immediately() -> None:
    async with program() as (url, pid), connected(url) as (session, listening):
        await session.create()
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(BenchError, match="Janus closed the connection"):
            async with asyncio.timeout(30):
                await listening


@pytest.mark.parametrize("scenario", [Scenario(), Scenario(audio=True, size=100)])
def test_a_publisher_offers_one_track_with_the_same_feedback_types_as_browsers(scenario: Scenario) -> None:
    codec = scenario.codec
    text = offer(codec, ice=IceCredentials("ufrag", "p" * 24), fingerprint="AB:CD", ssrc=7)
    [line] = SessionDescription.parse(text).media
    assert (line.kind, line.direction, line.ssrcs()) == (codec.kind, "sendonly", (7,))
    assert line.formats[0] == str(codec.payload_type)
    assert f"{codec.payload_type} transport-cc" in line.values("rtcp-fb")
    terms = Terms.of(SessionDescription.parse(text), MID, codec.name)
    assert (terms.payload_type, terms.mid_id, terms.twcc_id) == (
        codec.payload_type,
        MID_EXTENSION.id,
        TRANSPORT_CC.id,
    )


async def test_waiting_for_a_program_fails_if_it_exits_before_it_is_listening() -> None:
    words = [sys.executable, "-c", ""]
    with pytest.raises(BenchError, match="ended before it listened"):
        async with peer_program(words, *free_ports(1)):
            pass
