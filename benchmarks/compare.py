"""All scenarios, with the limit program, ours and every peer that is found, in one table.

    python -m benchmarks.compare --peer "pion=./sfu -http 127.0.0.1:{http} -udp {udp}"

A peer is an SFU that speaks docs/signalling.md, because the generator does: the reference on Pion with which
ours was first compared is one. Janus is not: its video room wants a publisher that makes offers, a
connection for each received track and its own messages, which would be a second generator, whose figures
could not be held against the first one's.
"""

import asyncio
import shutil
import sys

from benchmarks import s1, s2, s2_bursts, s3
from benchmarks.contest import HEADING, contest, options


async def main() -> None:
    chosen = options()
    if shutil.which("janus"):
        print("janus is here, but is not measured: see the first lines of compare.py", file=sys.stderr)
    for script in (s1, s2, s2_bursts, s3):
        print(f"\n{script.TITLE}\n\n{HEADING}", flush=True)
        await contest(script.SCENARIO, script.PPS, chosen)


if __name__ == "__main__":
    asyncio.run(main())
