"""Delays the packets of a home's link, as on a satellite link. Works on kernels without netem, too.

`delayed(home, delay_s)` holds every packet that a home's router forwards. The program that holds the packets,
`python -m tests.kit.delayed_link SECONDS`, runs in the router's network.
"""

import asyncio
import fcntl
import os
import struct
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.kit.home_networks import SERVER, UPLINKS, Home

_DEVICE = "delay"
_SET_INTERFACE = 0x400454CA
_TUN, _NO_INFORMATION = 0x0001, 0x1000
_REQUEST_BYTES = 40
_MAX_PACKET_BYTES = 65_535
_TABLE = "77"
# A packet passes through the router twice. Its address is translated only on the server side.
_UNTRACKED = f"""table inet delay {{
  chain twice {{
    type filter hook prerouting priority raw
    iifname {{ {", ".join(f'"{uplink}"' for uplink in UPLINKS)} }} notrack
    iifname "{_DEVICE}" ip saddr {SERVER} notrack
  }}
}}
"""


@asynccontextmanager
async def delayed(home: Home, delay_s: float) -> AsyncIterator[None]:
    """Delay every packet by `delay_s` seconds, in each direction. Only IPv4 is delayed."""
    router = home.router
    program = await asyncio.create_subprocess_exec(
        *router.inside, sys.executable, "-m", "tests.kit.delayed_link", str(delay_s), stdin=PIPE, stdout=PIPE
    )
    assert program.stdin and program.stdout
    rules = [f"iif {device} lookup {_TABLE}" for device in ("wan", *UPLINKS)]
    try:
        await program.stdout.readline()
        await router.run("nft", "-f", "-", text=_UNTRACKED)
        await router.ip(
            f"link set {_DEVICE} up",
            f"route add default dev {_DEVICE} table {_TABLE}",
            *(f"rule add {rule}" for rule in rules),
        )
        yield
        await router.ip(*(f"rule del {rule}" for rule in rules))
        await router.run("nft", "delete", "table", "inet", "delay")
    finally:
        program.stdin.close()
        await program.wait()


def open_device() -> int:
    """Create the TUN device. Return a descriptor for reading and writing its packets."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    request = struct.pack("16sH", _DEVICE.encode(), _TUN | _NO_INFORMATION)
    fcntl.ioctl(device, _SET_INTERFACE, request.ljust(_REQUEST_BYTES, b"\0"))
    Path(f"/proc/sys/net/ipv4/conf/{_DEVICE}/rp_filter").write_text("0")
    return device


async def main() -> None:
    """Hold each packet for the given time, until the input ends."""
    delay_s = float(sys.argv[1])
    loop = asyncio.get_running_loop()
    device = open_device()

    def hold() -> None:
        loop.call_later(delay_s, os.write, device, os.read(device, _MAX_PACKET_BYTES))

    loop.add_reader(device, hold)
    sys.stdout.write("\n")
    sys.stdout.flush()
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
