"""`svc bench sfu` measures a real service in short runs, and calculates its results correctly."""

import asyncio
import json
import os
import socket
from itertools import pairwise
from pathlib import Path

import pytest

from svc.cli import main
from svc.sfu.ice import IceCredentials
from svc.sfu.sdp import SessionDescription
from svc.tools.bench.cores import on_first_core, on_other_cores
from svc.tools.bench.errors import BenchError
from svc.tools.bench.measurement import Measurement, Reading, percentile_us
from svc.tools.bench.process import cpu_ns, resident_kb, unread
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.sdp_answer import Terms, answer
from svc.tools.bench.traffic import LATENCY_BUCKETS
from tests.kit.sfu_process import running_sfu

SHORT = ("--seconds", "1", "--pps", "50", "--json")


def bench(*arguments: str) -> int:
    return main(["bench", "sfu", *arguments])


def test_every_packet_reaches_every_receiver_and_is_authentic(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench("--publishers", "2", "--receivers", "3", *SHORT) == 0
    result = json.loads(capsys.readouterr().out)
    # A busy machine sends fewer packets and sends them later.
    assert 0 < result["sent"] <= 2 * 50 + 10
    assert result["received"] == result["sent"] * 4
    assert (result["lost"], result["forged"], result["missed"]) == (0, 0, 0)
    assert result["authenticated"] > 0
    assert 0 < result["p50_us"] <= result["p99_us"] <= result["max_us"]
    assert result["cpu_us_per_packet"] > 0
    assert result["memory_kb"] > 10_000


def test_every_packet_rate_is_measured_and_plotted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "latency.svg"
    arguments = ("--audio", "--receivers", "2", "--size", "100", "--seconds", "0.5", "--burst", "2")
    assert bench(*arguments, "--pps", "40,80", "--plot", str(picture)) == 0
    first, second = [line for line in capsys.readouterr().out.splitlines() if line[0] != " "]
    assert first.startswith("1 x 40 packets/s of 100 bytes in bursts of 2, 2 more receivers")
    assert second.startswith("1 x 80 ")
    assert "<svg" in picture.read_text()


async def test_a_running_service_can_be_measured(capsys: pytest.CaptureFixture[str]) -> None:
    async with running_sfu() as sfu:
        url = sfu.url.replace("http", "ws")
        status = await asyncio.to_thread(bench, "--url", url, "--receivers", "1", *SHORT)
        assert (status, sfu.faults) == (0, [])
    result = json.loads(capsys.readouterr().out)
    assert (result["lost"], result["cpu_us_per_packet"], result["memory_kb"]) == (0, None, None)


def test_packets_that_clients_discard_are_resent_and_do_not_count_as_lost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert bench("--receivers", "4", "--loss", "20", *SHORT) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["lost"], result["forged"]) == (0, 0)
    assert result["received"] + result["discarded"] == result["sent"] * 4
    assert 0 < result["resent"] <= result["discarded"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--receivers", "0"], "at least one client must send, and one receive"),
        (["--loss", "100"], "the loss must be at least 0 and less than 100 percent"),
        (["--size", "20"], "a packet must have 48 to 1400 bytes"),
        (["--plot", "x.gif"], "x.gif: the file name must end in .png or .svg"),
        (["--url", "ws://127.0.0.1:1"], "ws://127.0.0.1:1: Cannot connect to host 127.0.0.1:1"),
    ],
)
def test_invalid_options_are_reported_on_one_line(
    arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(*arguments) == 2
    errors = capsys.readouterr().err
    assert errors.startswith(f"svc bench: {line}")
    assert errors.count("\n") == 1


def test_a_percentile_lies_within_its_bucket() -> None:
    histogram = [0] * len(LATENCY_BUCKETS)
    assert percentile_us(histogram, 0.5) is None
    histogram[400], histogram[500] = 99, 1
    half, last = percentile_us(histogram, 0.5), percentile_us(histogram, 1.0)
    assert half is not None and last is not None
    assert LATENCY_BUCKETS[400] <= half / 1e6 <= LATENCY_BUCKETS[401]
    assert last == pytest.approx(LATENCY_BUCKETS[501] * 1e6, abs=0.1)


def test_latency_buckets_are_at_most_three_percent_wide() -> None:
    assert all(1 < upper / lower <= 1 + 1 / 32 for lower, upper in pairwise(LATENCY_BUCKETS[64:]))


def test_loss_is_relative_to_the_packets_sent_to_all_receivers() -> None:
    counted = (
        "sent",
        "unsent",
        "late",
        "received",
        "resent",
        "discarded",
        "authenticated",
        "forged",
        "busy_ns",
    )
    zero = dict.fromkeys(counted, 0)
    start = Reading(10.0, zero, [0], missed=0, unread=2, stolen_s=1.0, cpu_ns=5_000, waited_ns=0, memory_kb=1)
    ran = zero | {"busy_ns": 10**9}
    end = Reading(
        12.0, ran, [0], missed=0, unread=2, stolen_s=1.1, cpu_ns=95_000, waited_ns=10**9, memory_kb=7
    )
    came = {"sent": 20, "received": 87, "discarded": 3}
    settled = Reading(
        13.0, zero | came, [87], 4, unread=3, stolen_s=2, cpu_ns=99_000, waited_ns=0, memory_kb=8
    )
    measurement = Measurement.of(Scenario(publishers=1, receivers=5), 10, start, end, settled=settled)
    assert (measurement.lost, measurement.loss_percent, measurement.packets_per_s) == (10, 10.0, 43.5)
    assert (measurement.memory_kb, measurement.generator_percent) == (7, 50.0)
    assert measurement.cpu_us_per_packet == pytest.approx(90 / 87, abs=0.001)
    assert measurement.unread == 1
    assert measurement.warnings() == [
        "4 of the lost packets arrived; the generator was too slow to take them",
        "the server waited for its core 50.0 % of the time",
        "the host took 5.0 % of the time",
    ]


def test_a_benchmark_client_sends_in_one_section_and_receives_in_the_others() -> None:
    offer = SessionDescription.parse(
        "v=0\no=- 1 1 IN IP4 0\ns=-\n"
        "m=audio 9 UDP/TLS/RTP/SAVPF 111\na=mid:0\na=recvonly\n"
        "m=video 9 UDP/TLS/RTP/SAVPF 112\na=mid:1\na=recvonly\n"
        "m=video 9 UDP/TLS/RTP/SAVPF 112\na=mid:4\na=sendonly\n"
        "m=video 9 UDP/TLS/RTP/SAVPF 112\na=mid:5\na=inactive\n"
    )
    ice = IceCredentials("ufrag", "password")
    text = answer(offer, ice=ice, fingerprint="AB", sends="1", ssrc=7, name="someone")
    lines = SessionDescription.parse(text).media
    assert [line.direction for line in lines] == ["inactive", "sendonly", "recvonly", "inactive"]
    assert [line.ssrcs() for line in lines] == [(), (7,), (), ()]


def test_packets_have_transport_wide_sequence_numbers_if_the_offer_allows_it() -> None:
    offer = SessionDescription.parse(
        "v=0\no=- 1 1 IN IP4 0\ns=-\nm=audio 9 UDP/TLS/RTP/SAVPF 63 109\na=mid:0\n"
        "a=rtpmap:63 red/48000/2\na=rtpmap:109 opus/48000/2\n"
        "a=extmap:5 urn:ietf:params:rtp-hdrext:sdes:mid\n"
    )
    assert Terms.of(offer, "0", "opus") == Terms(payload_type=109, mid_id=5, twcc_id=0, level_id=0)
    with pytest.raises(BenchError, match="no VP8 in media section 0"):
        Terms.of(offer, "0", "VP8")


def test_the_measured_cpu_time_of_this_process_increases() -> None:
    before = cpu_ns(os.getpid())
    assert sum(range(2_000_000)) > 0
    assert cpu_ns(os.getpid()) > before > 0
    assert resident_kb(os.getpid()) > 1_000


def test_packets_dropped_by_a_full_socket_are_counted() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as full:
        full.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        full.bind(("127.0.0.1", 0))
        before = unread(os.getpid())
        for _ in range(100):
            full.sendto(bytes(1000), full.getsockname())
        assert 0 < unread(os.getpid()) - before < 100


def test_several_services_share_the_first_core_and_generators_use_the_others() -> None:
    usual = os.sched_getaffinity(0)
    first = {min(usual)}
    for _ in range(2):
        with on_first_core():
            assert os.sched_getaffinity(0) == first
        with on_other_cores():
            with on_first_core():
                assert os.sched_getaffinity(0) == first
            with on_other_cores():
                assert os.sched_getaffinity(0) == (usual - first or usual)
            assert os.sched_getaffinity(0) == (usual - first or usual)
        assert os.sched_getaffinity(0) == usual
