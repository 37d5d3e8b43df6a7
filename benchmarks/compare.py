"""Runs all scenarios with the limit program, this service, Janus (if installed) and every peer. Prints one
table.

    python -m benchmarks.compare --peer "pion=./sfu -http 127.0.0.1:{http} -udp {udp}"

A peer is an SFU that implements docs/signalling.md, such as the reference implementation on Pion with which
this service was first compared. Janus has a different protocol, so benchmarks/janus has separate clients for
it, which send the same media.
"""

import asyncio

from benchmarks import s1, s2, s2_bursts, s3
from benchmarks.sfu_comparison import HEADING, compare, options


async def main() -> None:
    chosen = options()
    for script in (s1, s2, s2_bursts, s3):
        print(f"\n{script.TITLE}\n\n{HEADING}", flush=True)
        await compare(script.SCENARIO, script.PPS, chosen)


if __name__ == "__main__":
    asyncio.run(main())
