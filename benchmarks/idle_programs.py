"""Measures each process of an idle `svc up`: wake-ups, CPU, memory, and startup CPU time. Linux only.

    python -m benchmarks.idle_programs [--seconds 60] [--settle 15] [--threads] [--command "path/to/svc up"]

Starts the product on loopback with an empty data folder, no connected client and no STUN. A first start,
which is not measured, compiles modules whose bytecode is missing or outdated. A wake-up is a voluntary
context switch: a thread that had nothing to do slept and then ran again. CPU time is read from
/proc/PID/task/*/schedstat. Memory is PSS, which divides a shared page among all processes that map it.
Startup CPU time includes all processes and their finished children, until `svc up` prints the web client's
URL.
"""

import argparse
import asyncio
import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests.kit.svc_up import COMMAND, running_svc_up

SECONDS = 60.0
# For a few seconds after startup, the programs are still busy with stored media, query plans and garbage
# collection.
SETTLE_S = 15.0
GONE = (FileNotFoundError, ProcessLookupError)


class Thread(NamedTuple):
    """A thread's totals since its start."""

    name: str
    cpu_ns: int
    wakeups: int


Threads = Mapping[int, Thread]


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--settle", type=float, default=SETTLE_S, help="seconds from start to measurement")
    parser.add_argument("--threads", action="store_true", help="print a row for each thread too")
    parser.add_argument("--command", default=shlex.join(COMMAND), help="`svc up` of another checkout")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = shlex.split(options.command)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        async with running_svc_up(Path(folder) / "first", command=command):
            pass
        async with running_svc_up(Path(folder) / "data", command=command) as product:
            start_s = {pid: spent_s(pid) for pid in family(product.pid)}
            await asyncio.sleep(options.settle)
            before = {pid: threads_of(pid) for pid in family(product.pid)}
            await asyncio.sleep(options.seconds)
            after = {pid: threads_of(pid) for pid in family(product.pid)}
            memory_kb = {pid: proportional_kb(pid) for pid in after}
            names = {pid: name_of(pid, product.pid) for pid in after}
    print("| process | wake-ups/s | % of a core | PSS in MB | CPU s of the start |")
    print("|---|---|---|---|---|")
    for pid, threads in after.items():
        earlier = before.get(pid, {})
        spent = f"{start_s.get(pid, 0.0):.2f}"
        print(row(names[pid], threads, earlier, options.seconds, f"{memory_kb[pid] / 1024:.1f}", spent))
        for number, thread in threads.items() if options.threads else ():
            print(row(f"– {thread.name} {number}", {number: thread}, earlier, options.seconds))
    memory, spent = f"{sum(memory_kb.values()) / 1024:.1f}", f"{sum(start_s.values()):.2f}"
    print(row("all", merged(after), merged(before), options.seconds, memory, spent))


def row(name: str, after: Threads, before: Threads, seconds: float, memory: str = "", spent: str = "") -> str:
    """Return a table row with the thread rates between two points in time."""
    nothing = Thread("", 0, 0)
    wakeups = sum(thread.wakeups - before.get(number, nothing).wakeups for number, thread in after.items())
    cpu_ns = sum(thread.cpu_ns - before.get(number, nothing).cpu_ns for number, thread in after.items())
    return f"| {name} | {wakeups / seconds:.2f} | {cpu_ns / seconds / 1e7:.3f} | {memory} | {spent} |"


def merged(threads: Mapping[int, Threads]) -> Threads:
    return {number: thread for those in threads.values() for number, thread in those.items()}


def family(pid: int) -> Sequence[int]:
    """Return the process and all of its descendants."""
    children: list[int] = []
    with suppress(*GONE):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(*GONE):
                children += map(int, (task / "children").read_text().split())
    return [pid, *(descendant for child in children for descendant in family(child))]


def threads_of(pid: int) -> Threads:
    threads = {}
    with suppress(*GONE):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(*GONE):
                status = fields(task / "status")
                cpu_ns = int((task / "schedstat").read_text().split()[0])
                wakeups = int(status["voluntary_ctxt_switches"])
                threads[int(task.name)] = Thread(status["Name"], cpu_ns, wakeups)
    return threads


def proportional_kb(pid: int) -> int:
    """Return the PSS of the process, or 0 if it has exited."""
    with suppress(*GONE):
        return int(fields(Path(f"/proc/{pid}/smaps_rollup"))["Pss"].split()[0])
    return 0


def spent_s(pid: int) -> float:
    """Return the CPU time of the process, including ended threads and reaped children."""
    with suppress(*GONE):
        columns = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, columns[11:15])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def name_of(pid: int, first: int) -> str:
    """Return the command that a process is running, or "child of" the command for a forked child."""
    command = "ended"
    with suppress(*GONE):
        words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        command = next((word for word in words if word in ("up", "sfu", "chat", "worker")), words[0])
        parent = int(fields(Path(f"/proc/{pid}/status"))["PPid"])
        if pid != first and parent != first:
            return f"child of {command}"
    return command


def fields(path: Path) -> Mapping[str, str]:
    """Return the lines `name: value` of a file in /proc."""
    pairs = (line.partition(":") for line in path.read_text().splitlines())
    return {name: value.strip() for name, _, value in pairs}


if __name__ == "__main__":
    asyncio.run(main())
