"""The program starts, or refuses to start, on real ports.

See docs/signalling.md, "Why a WebSocket is closed".
"""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from svc.base.config_parsing import ConfigError
from svc.sfu.app import Flags, running
from svc.sfu.config import Config
from svc.sfu.measurements import _CORE_COUNTERS
from svc.sfu.media import COUNTERS


@pytest.fixture
def held_udp_port() -> Iterator[int]:
    """Return a UDP port that is in use by another socket."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
        holder.bind(("0.0.0.0", 0))
        yield holder.getsockname()[1]


def test_the_program_exits_with_a_one_line_message_if_its_udp_port_is_in_use(
    held_udp_port: int,
) -> None:
    variables = {"SFU_PORT": "0", "ICE_UDP_MUX_PORT": str(held_udp_port), "DISABLE_STUN": "true"}
    ended = subprocess.run(
        [sys.executable, "-m", "svc.cli", "sfu", "--host", "127.0.0.1"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr == (
        f"svc sfu: UDP port {held_udp_port} is already in use by another program. "
        "Choose another one with ICE_UDP_MUX_PORT.\n"
    )


async def test_the_program_refuses_to_start_if_its_http_port_is_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        config = Config.read({"SFU_PORT": str(port), "ICE_UDP_MUX_PORT": "0", "DISABLE_STUN": "true"})
        with pytest.raises(ConfigError, match=f"TCP port {port} is already in use"):
            async with running(config, Flags(host="127.0.0.1")):
                pass


@pytest.mark.parametrize(
    ("configured", "processors", "threads"),
    [(None, 1, 1), (None, 2, 1), (None, 3, 3), (None, 64, 4), (1, 8, 1), (6, 2, 6)],
)
async def test_the_number_of_threads_is_configured_or_chosen_to_fit_the_processors(
    monkeypatch: pytest.MonkeyPatch, configured: int | None, processors: int, threads: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(processors)), raising=False)
    config = Config.read({"SFU_PORT": "0", "ICE_UDP_MUX_PORT": "0", "DISABLE_STUN": "true"})
    async with running(config, Flags(host="127.0.0.1", workers=configured)):
        assert serving() == threads
    assert serving() == 0


def serving() -> int:
    names = [thread.name for thread in threading.enumerate()]
    return sum(name.startswith(("svc-udp", "svc-send")) for name in names)


def test_every_counter_of_the_core_is_exposed_with_a_description() -> None:
    assert set(_CORE_COUNTERS) == set(COUNTERS)
