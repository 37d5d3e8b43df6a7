"""Tests the UDP loop on real loopback sockets: its ports and addresses, and starting and stopping it."""

import errno
import os
import select
import socket
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from aioice import stun

from svc._rtp.udploop import UdpLoop
from tests.kit.udploop_sync import settle

WITHIN_S = 30.0
# Linux and Windows use all of 127.0.0.0/8 for loopback.
SECOND_LOOPBACK = pytest.param(
    "127.0.0.2",
    socket.AF_INET,
    marks=pytest.mark.skipif(sys.platform == "darwin", reason="macOS has one loopback address"),
)
PWD = "password" * 3


def free_port_is_held_by(loop: UdpLoop, address: str) -> bool:
    try:
        UdpLoop(seed=1, addresses=[address], port=loop.port)
    except OSError as error:
        return error.errno == errno.EADDRINUSE
    return False


class Client:
    """A socket that sends checks to a loop and waits for responses."""

    def __init__(self, loop: UdpLoop, server: str, *, family: socket.AddressFamily = socket.AF_INET) -> None:
        self.loop = loop
        self.server = (server, loop.port)
        self.socket = socket.socket(family, socket.SOCK_DGRAM)
        self.socket.settimeout(WITHIN_S)
        self.socket.bind(("127.0.0.1" if family == socket.AF_INET else "::1", 0))

    def check(self) -> tuple[stun.Message, str]:
        """Send a check. Return the response and its source address."""
        request = stun.Message(message_method=stun.Method.BINDING, message_class=stun.Class.REQUEST)
        request.attributes["USERNAME"] = "ours:theirs"
        request.attributes["PRIORITY"] = 1
        request.attributes["ICE-CONTROLLED"] = 1
        request.add_message_integrity(PWD.encode())
        settle(self.loop, self.socket, self.server[0])
        self.socket.sendto(bytes(request), self.server)
        data, source = self.socket.recvfrom(2048)
        return stun.parse_message(data), source[0]

    def close(self) -> None:
        self.socket.close()


def open_transport(loop: UdpLoop) -> int:
    transport = loop.open_transport(1)
    loop.set_credentials(transport, "ours", PWD)
    return transport


def wait_for_counter(loop: UdpLoop, name: str, value: int) -> None:
    deadline = time.monotonic() + WITHIN_S
    while loop.counters()[name] != value:
        assert time.monotonic() < deadline, f"{name} is {loop.counters()[name]}, not {value}"
        time.sleep(0.005)


@pytest.fixture(params=[False, True], ids=["batched", "portable"])
def loop(request: pytest.FixtureRequest) -> Iterator[UdpLoop]:
    """Serve both address families on one port.

    The kernel chooses the port for IPv4, so it may be in use for IPv6.
    """
    for _ in range(20):
        try:
            made = UdpLoop(seed=1, addresses=["0.0.0.0", "::"], port=0, portable=request.param)
        except OSError:
            continue
        break
    made.start()
    yield made
    made.stop()


@pytest.mark.parametrize(
    ("server", "family"),
    [("127.0.0.1", socket.AF_INET), SECOND_LOOPBACK, ("::1", socket.AF_INET6)],
)
def test_a_check_is_answered_from_the_address_that_it_was_sent_to(
    loop: UdpLoop, server: str, family: socket.AddressFamily
) -> None:
    open_transport(loop)
    client = Client(loop, server, family=family)
    answer, source = client.check()
    assert answer.attributes["XOR-MAPPED-ADDRESS"] == client.socket.getsockname()[:2]
    assert source == server
    client.close()


def test_events_make_the_descriptor_readable_and_contain_both_addresses(loop: UdpLoop) -> None:
    transport = open_transport(loop)
    client = Client(loop, "127.0.0.1")
    client.check()
    readable, _, _ = select.select([loop], [], [], WITHIN_S)
    assert readable
    ((kind, event_transport, _, remote, local, priority, _, _),) = loop.take_events()
    assert (kind, event_transport, priority) == ("check", transport, 1)
    assert (remote, local) == (client.socket.getsockname(), "127.0.0.1")
    assert select.select([loop], [], [], 0) == ([], [], [])
    client.close()


@pytest.mark.parametrize(("server", "family"), [("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)])
def test_datagrams_that_exceed_one_batch_are_sent_in_order(
    loop: UdpLoop, server: str, family: socket.AddressFamily
) -> None:
    client = Client(loop, server, family=family)
    sent = [b"\x01" + n.to_bytes(2, "big") + bytes(n) for n in range(150)]
    for data in sent:
        loop.send_stun(data, client.socket.getsockname()[:2], server)
    assert [client.socket.recv(2048) for _ in sent] == sent
    client.close()


@pytest.mark.parametrize(
    "sizes",
    [[900] * 80, [900] * 10 + [400] + [900] * 10, [400, 900, 900, 901, 900], [1100] * 66 + [1] * 20, [7]],
    ids=["equal", "a shorter last one", "a longer one", "more than a batch", "alone"],
)
def test_consecutive_datagrams_to_one_receiver_arrive_complete_and_in_order(
    loop: UdpLoop, sizes: list[int]
) -> None:
    client = Client(loop, "127.0.0.1")
    sent = [bytes([n % 256]) * size for n, size in enumerate(sizes)]
    # All are posted before the thread's next iteration, so they are sent in as few batches as possible.
    for data in sent:
        loop.send_stun(data, client.socket.getsockname(), "127.0.0.1")
    received = [client.socket.recv(2048) for _ in sent]
    client.close()
    assert received == sent
    assert loop.counters()["dropped_send_failed"] == 0


def test_failed_sends_are_counted_and_do_not_affect_other_datagrams(loop: UdpLoop) -> None:
    client = Client(loop, "127.0.0.1")
    # The kernel rejects port 0.
    for destination in (("127.0.0.1", 0), client.socket.getsockname(), ("127.0.0.1", 0)):
        loop.send_stun(b"hello", destination, "")
    assert client.socket.recv(100) == b"hello"
    wait_for_counter(loop, "dropped_send_failed", 2)
    client.close()


def test_datagrams_that_are_too_large_are_counted_and_dropped(loop: UdpLoop) -> None:
    client = Client(loop, "127.0.0.1")
    for length in (1500, 1501, 9000):
        client.socket.sendto(b"\x80" * length, client.server)
    wait_for_counter(loop, "dropped_oversized", 2)
    wait_for_counter(loop, "dropped_unknown_source", 1)
    client.close()


def test_an_empty_datagram_is_counted_and_dropped(loop: UdpLoop) -> None:
    client = Client(loop, "127.0.0.1")
    client.socket.sendto(b"", client.server)
    wait_for_counter(loop, "dropped_unknown_source", 1)
    client.close()


def test_datagrams_that_exceed_one_iteration_are_all_received(loop: UdpLoop) -> None:
    client = Client(loop, "127.0.0.1")
    for _ in range(400):
        client.socket.sendto(b"\xff" * 20, client.server)
    wait_for_counter(loop, "dropped_unknown_source", 400)
    client.close()


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "127.0.0.1"])
def test_a_udp_port_in_use_is_never_shared(loop: UdpLoop, address: str) -> None:
    assert free_port_is_held_by(loop, address)


def test_a_loop_that_failed_to_open_holds_no_port() -> None:
    holder = UdpLoop(seed=1, addresses=["::1"], port=0)
    with pytest.raises(OSError, match=f"UDP port {holder.port} on ::1"):
        # The first address is free, but the second is not.
        UdpLoop(seed=1, addresses=["127.0.0.1", "::1"], port=holder.port)
    again = UdpLoop(seed=1, addresses=["127.0.0.1"], port=holder.port)
    again.stop()
    holder.stop()


def test_one_address_of_each_family_is_bound() -> None:
    with pytest.raises(ValueError, match="one address of each family"):
        UdpLoop(seed=1, addresses=["127.0.0.1", "127.0.0.2"], port=0)


def test_stop_ends_the_thread_and_frees_the_port(loop: UdpLoop) -> None:
    threads = threading.active_count()
    loop.stop()
    assert threading.active_count() == threads - 1
    again = UdpLoop(seed=1, addresses=["0.0.0.0", "::"], port=loop.port)
    again.stop()


def test_requests_to_a_stopped_loop_are_harmless(loop: UdpLoop) -> None:
    loop.stop()
    loop.stop()
    open_transport(loop)
    loop.send_stun(b"x", ("127.0.0.1", 9), "")
    assert loop.take_events() == []


def test_a_loop_that_was_never_opened_does_not_close_other_descriptors() -> None:
    before = os.fstat(0)
    with pytest.raises(TypeError):
        UdpLoop(seed=1)  # type: ignore[call-arg]
    assert os.fstat(0) == before


def test_inherited_sockets_are_served_and_left_open() -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as v4,
        socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as v6,
    ):
        v4.bind(("127.0.0.1", 0))
        v6.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        v6.bind(("::1", v4.getsockname()[1]))
        loop = UdpLoop(seed=1, addresses=[], port=0, sockets=[v6.fileno(), v4.fileno()])
        assert loop.port == v4.getsockname()[1]
        assert len(loop.descriptors()) == 2
        open_transport(loop)
        loop.start()
        for server, family in (("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)):
            client = Client(loop, server, family=family)
            answer, source = client.check()
            assert (answer.message_class, source) == (stun.Class.RESPONSE, server)
            client.close()
        loop.stop()
        assert loop.descriptors() == []
        assert v4.getsockname()[1] == v6.getsockname()[1] > 0


def test_a_dual_stack_socket_is_rejected() -> None:
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as both:
        both.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        both.bind(("::", 0))
        with pytest.raises(OSError, match="Invalid argument"):
            UdpLoop(seed=1, addresses=[], port=0, sockets=[both.fileno()])


def test_two_sockets_with_the_same_address_family_are_rejected() -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other,
    ):
        for bound in (one, other):
            bound.bind(("127.0.0.1", 0))
        with pytest.raises(ValueError, match="one socket of each family"):
            UdpLoop(seed=1, addresses=[], port=0, sockets=[one.fileno(), other.fileno()])
