"""Runs the limit program as a process. Reads its clients from standard input, and prints its port.

Exits when standard input is closed.
"""

import json
import sys

from benchmarks.limit.limit import Limit
from svc.tools.parent_watch import end_with_parent


def main() -> None:
    clients = json.loads(sys.stdin.readline())
    limit = Limit(
        [(port, ssrc, bytes.fromhex(received), bytes.fromhex(sent)) for port, ssrc, received, sent in clients]
    )
    print(limit.port, flush=True)
    end_with_parent()
    limit.run()


if __name__ == "__main__":
    main()
