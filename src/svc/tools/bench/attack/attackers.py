"""Runs an attacker process (`python -m svc.tools.bench.attack.attackers`), which `svc bench attack` starts.

Reads its orders as one line of JSON from standard input, attacks for the given time, and writes its report as
one line of JSON. Exits early if standard input closes. If there are three or more cores, the process has its
own core. Otherwise it shares a core with the honest members' process, at a lower priority, because real
attackers have their own processors, and this process must not slow the members down.
"""

import asyncio
import json
import os
import resource
import sys
from collections.abc import Mapping

from svc.tools.bench.attack.catalogue import attacks_named
from svc.tools.bench.attack.load import Load
from svc.tools.bench.attack.target import Target
from svc.tools.bench.cores import lower_priority


def main() -> None:
    order = json.loads(sys.stdin.buffer.readline())
    os.sched_setaffinity(0, set(order["cores"]))
    lower_priority()
    _, maximum = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (maximum, maximum))
    target = Target(**{**order["target"], **_tuples(order["target"])})
    print(json.dumps(asyncio.run(_attack(order["attacks"], target, order["seconds"]))), flush=True)


def _tuples(fields: Mapping[str, object]) -> dict[str, tuple[object, ...]]:
    """Convert lists from JSON to tuples."""
    return {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}


async def _attack(names: list[str], target: Target, seconds: float) -> dict[str, object]:
    loads = {attack: Load(target) for attack in attacks_named(names)}
    ended = asyncio.create_task(_wait_for_parent())
    attacking = [asyncio.create_task(attack.run(load)) for attack, load in loads.items()]
    await asyncio.wait([ended, *attacking], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for task in (ended, *attacking):
        task.cancel()
    outcomes = await asyncio.gather(*attacking, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, Exception):
            raise outcome
    return {
        attack.name: {"requests": load.requests, "held": load.most_held, "answers": dict(load.answers)}
        for attack, load in loads.items()
    }


async def _wait_for_parent() -> None:
    """Wait until the parent process has exited."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer
    )
    await reader.read()


if __name__ == "__main__":
    main()
