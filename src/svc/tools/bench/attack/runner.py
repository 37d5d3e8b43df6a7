"""`svc bench attack`: measure the effect of attacks on an instance's honest members.

Runs the attacks and reports progress. Prints results on standard output and progress on standard error.
"""

import asyncio
import json
import os
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from svc.tools.bench import cores, process
from svc.tools.bench.attack import installation, report
from svc.tools.bench.attack.catalogue import Attack, attacks_named
from svc.tools.bench.attack.expensive_bodies import expensive_bodies, with_expensive_bodies
from svc.tools.bench.attack.honest_members import RoomClients
from svc.tools.bench.attack.http_client import Caller
from svc.tools.bench.attack.installation import Installation, own_installation
from svc.tools.bench.attack.report import Effort, Row, shares_used
from svc.tools.bench.attack.target import Target, check_address
from svc.tools.bench.errors import BenchError
from svc.tools.bench.server import stop

# The number of attacker accounts. Together, their upload quotas exceed the server's space for uploads.
ATTACKERS = 6
# How long an attack runs before the members are measured.
LEAD_S = 1.0
SAMPLED_EVERY_S = 0.25
# Access tokens expire after 15 minutes. All attacks together, at 30 s each, finish within that time.
MAX_SECONDS = 30.0
# The instance has recovered once it responds this fast three times in a row. The wait is limited.
WELL_S = 0.1
MAX_RECOVERY_S = 20.0
STARTED_DEADLINE_S = 20.0
# The number of attacker processes when all attacks run together. Each uses at most one core.
MAX_PROCESSES = 4


@dataclass(frozen=True, slots=True)
class Plan:
    attacks: Sequence[str]  # if empty, each attack separately, then all attacks together
    members: int
    rate: float  # messages per second from all honest members together
    seconds: float  # duration of each attack
    together: bool = False  # run all attacks together only, not separately


@dataclass(frozen=True, slots=True)
class Options:
    url: str | None = None  # None for a private installation
    invite: str = ""
    webhook: str = ""  # path or URL of a webhook that may be attacked
    sfu: str = ""  # http://host:port
    pid: int | None = None
    mine: bool = False
    tls: Path | None = None  # certificate for the private installation
    as_json: bool = False


def run(plan: Plan, means: Options) -> None:
    """Execute the plan. Raises BenchError if nothing can be measured."""
    if plan.seconds > MAX_SECONDS:
        raise BenchError(f"An attack lasts at most {MAX_SECONDS:.0f} s. Choose fewer with --seconds.")
    asyncio.run(_run(plan, means))


async def _run(plan: Plan, means: Options) -> None:
    if not means.as_json:
        print(report.heading(), flush=True)
    remarks: list[str] = []
    async for row in measure(plan, means):
        print(json.dumps(row.json()) if means.as_json else report.line(row), flush=True)
        remarks += row.remarks()
    if remarks and not means.as_json:
        print("\n".join(["", *remarks]))


async def measure(plan: Plan, means: Options) -> AsyncIterator[Row]:
    """Yield a row without attacks, a row for each attack, and a row for all attacks together. Raises
    BenchError.
    """
    attacks = attacks_named(list(plan.attacks))
    with cores.on(cores.honest()):
        async for row in _measure(attacks, plan, means):
            yield row


async def _measure(attacks: Sequence[Attack], plan: Plan, means: Options) -> AsyncIterator[Row]:
    async with (
        _installation(means) as installed,
        _members(installed, plan, means) as (room_clients, target),
    ):
        possible = [attack for attack in attacks if attack.possible(target)]
        for attack in attacks:
            if attack not in possible:
                _show_progress(f"{attack.name} is skipped: this instance has no {attack.needs} for it\n")
        alone = () if plan.together and len(possible) > 1 else possible
        rounds: list[Sequence[Attack]] = [(), *((attack,) for attack in alone)]
        for together in [*rounds, possible] if len(possible) > 1 else rounds:
            name = together[0].name if len(together) == 1 else "all at once" if together else "none"
            _show_progress(f"{name}, {plan.seconds:.0f} s")
            yield await _row(name, together, plan.seconds, installed, room_clients, target)
            await _wait_recovered(target)
        _show_progress("")


async def _row(
    name: str,
    attacks: Sequence[Attack],
    seconds: float,
    installed: Installation,
    room_clients: RoomClients,
    target: Target,
) -> Row:
    before_kb, log_before = _resident_kb(installed), installed.log_bytes
    attackers = [await _start_attacker(part, target, seconds + LEAD_S) for part in _parts(attacks)]
    try:
        sampling = asyncio.create_task(_most_resident_kb(installed))
        if attackers:
            await asyncio.sleep(LEAD_S)
        efforts = [_effort(installed)]
        noticed = await room_clients.watch(seconds)
        efforts.append(_effort(installed))
        did: dict[str, Mapping[str, object]] = {}
        for attacker in attackers:
            did |= await _report(attacker)
        sampling.cancel()
        most_kb = max(_resident_kb(installed), *await asyncio.gather(sampling))
    finally:
        for attacker in attackers:
            await stop(attacker)
    memory_mb = (most_kb - before_kb) / 1024 if installed.pid else None
    log_bytes = installed.log_bytes - log_before if installed.target.folder else None
    return Row.of(name, seconds, noticed, did, memory_mb, log_bytes, shares_used(*efforts))


def _parts(attacks: Sequence[Attack]) -> list[list[str]]:
    """Distribute the attacks among processes."""
    count = min(len(attacks), MAX_PROCESSES, max(len(os.sched_getaffinity(0)), 2))
    return [[attack.name for attack in attacks[number::count]] for number in range(count)]


async def _start_attacker(attacks: list[str], target: Target, seconds: float) -> Process:
    attacker = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "svc.tools.bench.attack.attackers"),
        stdin=PIPE,
        stdout=PIPE,
        start_new_session=True,
    )
    assert attacker.stdin is not None
    order = {
        "attacks": attacks,
        "target": asdict(target),
        "seconds": seconds,
        "cores": sorted(cores.attackers()),
    }
    attacker.stdin.write(json.dumps(order).encode() + b"\n")
    await attacker.stdin.drain()
    return attacker


async def _report(attacker: Process) -> dict[str, Mapping[str, object]]:
    assert attacker.stdout is not None
    try:
        async with asyncio.timeout(MAX_SECONDS + STARTED_DEADLINE_S):
            counts: dict[str, Mapping[str, object]] = json.loads(await attacker.stdout.readline())
    except (TimeoutError, ValueError):
        raise BenchError("the attackers ended without a report") from None
    return counts


@asynccontextmanager
async def _installation(means: Options) -> AsyncIterator[Installation]:
    if means.url is None:
        async with own_installation(tls=means.tls) as installed:
            await installation.prepare(installed)
            yield installed
        return
    address = means.url.rstrip("/")
    sources = await check_address(address, mine=means.mine)
    if means.sfu:
        await check_address(means.sfu, mine=means.mine)
    webhook = means.webhook.removeprefix(address)
    yield Installation(
        Target(address, sources, webhook=webhook, sfu=means.sfu.rstrip("/")), means.invite, means.pid
    )


@asynccontextmanager
async def _members(
    installed: Installation, plan: Plan, means: Options
) -> AsyncIterator[tuple[RoomClients, Target]]:
    """Sign in the honest members and create the attacker accounts. Delete all accounts when the block
    ends.
    """
    tokens: list[str] = []
    try:
        _show_progress(f"{plan.members} members join")
        tokens += await installation.create_members(installed, plan.members + ATTACKERS)
        target = await installation.with_accounts(installed.target, tokens[:ATTACKERS])
        if means.url is None:
            await installation.fill_history(target, tokens[ATTACKERS:])
        if any(attack.run is expensive_bodies for attack in attacks_named(list(plan.attacks))):
            target = await with_expensive_bodies(target, installed.tried, installed.pid)
            _show_progress("\n".join(["the most expensive bodies:", *target.expensive, ""]))
        room_clients = RoomClients(target, tokens[ATTACKERS:], plan.rate)
        try:
            await room_clients.assemble()
            yield room_clients, target
        finally:
            room_clients.leave()
    finally:
        if means.url is not None:
            await installation.delete_members(installed.target, tokens)


async def _wait_recovered(target: Target) -> None:
    """Wait until the instance has recovered, so that no attack affects the next row."""
    loop = asyncio.get_running_loop()
    end, well = loop.time() + MAX_RECOVERY_S, 0
    while well < 3 and loop.time() < end:
        caller, started = Caller(target.address), loop.time()
        try:
            await caller.ask(target.request("GET", "/health"))
            well = well + 1 if loop.time() - started < WELL_S else 0
        except (OSError, EOFError, ValueError):
            well = 0
        finally:
            caller.close()
        await asyncio.sleep(WELL_S)


async def _most_resident_kb(installed: Installation) -> int:
    """Sample the server's memory until cancelled, and return the maximum."""
    maximum = 0
    try:
        while True:
            maximum = max(maximum, _resident_kb(installed))
            await asyncio.sleep(SAMPLED_EVERY_S)
    except asyncio.CancelledError:
        return maximum


def _resident_kb(installed: Installation) -> int:
    return process.resident_kb(installed.pid) if installed.pid else 0


def _effort(installed: Installation) -> Effort | None:
    if not installed.pid:
        return None
    return Effort(
        time.monotonic(), process.cpu_ns(installed.pid) / 1e9, process.waited_ns(installed.pid) / 1e9
    )


def _show_progress(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()
