"""Measures uploads: the time, CPU time and memory for an image and for a minute of video, and the event
loop's lag.

    python -m benchmarks.media [--pictures 10] [--uploads 18] [--no-video]

Images and videos go through the sandbox one after the other, as the worker sends them. Memory is the child
process's peak resident set, including about 45 MB that it shares with its parent. Then a real chat server and
a real worker share the machine. The lag is the delay of a 5 ms timer in the server's event loop: while idle,
while a member sends photographs and a video, and while these are decoded. A member may have twenty unfinished
uploads at a time.
"""

import argparse
import asyncio
import json
import os
import re
import signal
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from aiohttp import ClientSession, FormData

from benchmarks import media_files
from svc.base.file_types import container_of
from svc.base.pictures import limits_of as picture_limits
from svc.base.pictures import picture_sandbox, rewritten
from svc.base.sandbox import Result, as_file
from svc.tools.bench.chat_server import ChatServer
from svc.tools.bench.sign_up import join_all
from svc.worker.encoders import PICTURE_DEADLINE_S, RULES
from svc.worker.video_job import VideoRules, video_sandbox
from svc.worker.video_job import limits_of as video_limits

DEADLINE_S = 600.0
# The real server, with an additional timer that records its own delay.
_CODE = """
import asyncio, json, signal, sys, time
from svc.chat import app
original = app._run
async def late(lags):
    while True:
        due = time.perf_counter() + 0.005
        await asyncio.sleep(0.005)
        lags.append(time.perf_counter() - due)
async def run(*arguments):
    lags = []
    def print_lags(*_):
        lags.sort()
        if lags:
            percentiles = {"p50": lags[len(lags) // 2], "p99": lags[len(lags) * 99 // 100], "max": lags[-1]}
            print("lag " + json.dumps(percentiles), file=sys.stderr, flush=True)
        lags.clear()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, print_lags)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR2, lags.clear)
    task = asyncio.create_task(late(lags))
    await original(*arguments)
app._run = run
from svc.cli import main
sys.exit(main())
"""
_LISTENING = re.compile(r" listening address=(\S+)")


async def pictures(count: int) -> None:
    print("| picture | kind | ms | pictures/s | CPU ms | memory MB | KB in | KB out |")
    print("|---|---|---|---|---|---|---|---|")
    async with picture_sandbox(1) as sandbox:
        for what, kind, data in media_files.pictures():
            rules = RULES[kind]
            limits = picture_limits(rules, PICTURE_DEADLINE_S)
            times, results = [], []
            async with as_file(data) as file:
                await sandbox.call("rewrite", asdict(rules), [file], limits)
                for _ in range(count):
                    os.lseek(file, 0, os.SEEK_SET)
                    began = time.perf_counter()
                    results.append(await sandbox.call("rewrite", asdict(rules), [file], limits))
                    times.append(time.perf_counter() - began)
            ms = median(times) * 1000
            out = sum(map(len, results[0].blobs))
            row = [what, kind, f"{ms:.0f}", f"{1000 / ms:.1f}", *_used(results)]
            print(f"| {' | '.join([*row, f'{len(data) / 1000:.0f}', f'{out / 1000:.0f}'])} |", flush=True)


def _used(results: Sequence[Result]) -> list[str]:
    cpu_ms = median(result.used["cpu_s"] for result in results) * 1000
    peak_mb = max(result.used["peak_bytes"] for result in results) / 1e6
    return [f"{cpu_ms:.0f}", f"{peak_mb:.0f}"]


async def films(folder: Path) -> None:
    print("\n| a minute of video | | s | CPU s | memory MB | MB in | MB out |")
    print("|---|---|---|---|---|---|---|")
    rules = VideoRules()
    async with video_sandbox() as sandbox:
        for what, path in media_files.films(folder):
            container = container_of(path.read_bytes())
            arguments = {"container": container, "bounds": asdict(rules)}
            target = folder / "out"
            with path.open("rb") as source, target.open("w+b") as written:
                files = [source.fileno(), written.fileno()]
                began = time.perf_counter()
                result = await sandbox.call("rewrite", arguments, files, video_limits(rules))
                took_s = time.perf_counter() - began
            how = "copied" if result.facts["copied"] else "encoded anew"
            sizes = [f"{file.stat().st_size / 1e6:.1f}" for file in (path, target)]
            cpu_s, peak_mb = result.used["cpu_s"], result.used["peak_bytes"] / 1e6
            row = [what, how, f"{took_s:.1f}", f"{cpu_s:.1f}", f"{peak_mb:.0f}", *sizes]
            print(f"| {' | '.join(row)} |", flush=True)


async def lag(folder: Path, uploads: int) -> None:
    """Measure the lag of the server's event loop while files arrive, and while the worker processes them on
    the same machine.
    """
    photograph = media_files.photograph(4000, 3000)
    _, film = next(iter(media_files.films(folder.parent, only="mpeg4", seconds=20)))
    async with _program(("chat",), folder) as (server, address), ClientSession(address) as http:
        lags = asyncio.create_task(_lags(server))
        invite = (folder / "invite-code").read_text().strip()
        [token] = await _members(ChatServer(address, invite, server.pid))
        headers = {"Authorization": f"Bearer {token}"}
        await _phase(server, asyncio.sleep(5))
        ids: set[str] = set()
        await _phase(server, _send_all(http, headers, [film, *[photograph] * uploads], ids))
        began = time.perf_counter()
        async with _program(("worker",), folder):
            await _phase(server, _all_ended(http, headers, ids))
        took_s = time.perf_counter() - began
        lags.cancel()
    print(f"\n{uploads} photographs and a film decoded on the same machine as the server: {took_s:.1f} s")
    print("\n| event loop of the chat server | p50 ms | p99 ms | most ms |\n|---|---|---|---|")
    whats = ("nothing to do", f"{uploads} photographs and a film arrive", "they are decoded")
    for what, values in zip(whats, _found[-3:], strict=True):
        print(f"| {what} | {' | '.join(f'{values[name] * 1000:.1f}' for name in ('p50', 'p99', 'max'))} |")


async def turns(seconds: float = 5.0, rounds: int = 4) -> None:
    """Run an event loop alternately with and without three decoders, so other load affects both equally."""
    photograph = media_files.photograph(4000, 3000)
    alone: list[float] = []
    lags_during: list[float] = []
    async with picture_sandbox(3) as sandbox:

        async def decode() -> None:
            while True:
                await rewritten(photograph, RULES["picture"], deadline_s=DEADLINE_S, sandbox=sandbox)

        for _ in range(rounds):
            alone += await _lateness(seconds)
            tasks = [asyncio.create_task(decode()) for _ in range(3)]
            lags_during += await _lateness(seconds)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    print("\n| an event loop, in turns | p50 ms | p99 ms | p99.9 ms | most ms | beyond 20 ms |")
    print("|---|---|---|---|---|---|")
    for what, lags in (("nothing to do", sorted(alone)), ("three decoders running", sorted(lags_during))):
        percentiles = (lags[len(lags) * share // 1000] for share in (500, 990, 999))
        late = sum(lag > 0.020 for lag in lags)
        figures = [f"{1000 * figure:.1f}" for figure in (*percentiles, lags[-1])]
        print(f"| {what} | {' | '.join(figures)} | {late} of {len(lags):,} |")


async def _lateness(seconds: float) -> list[float]:
    lags = []
    end = time.perf_counter() + seconds
    while (due := time.perf_counter() + 0.005) < end:
        await asyncio.sleep(0.005)
        lags.append(time.perf_counter() - due)
    return lags


async def _phase(server: Process, work: Coroutine[object, object, None]) -> None:
    """Print the lag while the given work runs."""
    server.send_signal(signal.SIGUSR2)
    await asyncio.sleep(0.2)
    await work
    server.send_signal(signal.SIGUSR1)
    await asyncio.sleep(0.5)


async def _members(server: ChatServer) -> list[str]:
    tokens: list[str] = []

    async def arrive(token: str) -> None:
        tokens.append(token)

    await join_all(server, 1, 1, arrive)
    return tokens


_found: list[dict[str, float]] = []


async def _lags(server: Process) -> None:
    assert server.stderr is not None
    while line := (await server.stderr.readline()).decode():
        if line.startswith("lag "):
            _found.append(json.loads(line.removeprefix("lag ")))


async def _send_all(
    http: ClientSession, headers: dict[str, str], files: Sequence[bytes | Path], ids: set[str]
) -> None:
    for file in files:
        ids.add(await _send(http, headers, file))


async def _all_ended(http: ClientSession, headers: dict[str, str], ids: set[str]) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while ids:
            ids = await _still_open(http, headers, ids)


async def _send(http: ClientSession, headers: dict[str, str], file: bytes | Path) -> str:
    form = FormData()
    content: Any = file.open("rb") if isinstance(file, Path) else file
    form.add_field("file", content, filename="file", content_type="application/octet-stream")
    async with http.post("/api/channels/general/uploads", data=form, headers=headers) as response:
        assert response.status == 201, await response.text()
        return str((await response.json())["id"])


async def _still_open(http: ClientSession, headers: dict[str, str], ids: set[str]) -> set[str]:
    await asyncio.sleep(1)
    still = set()
    for upload_id in ids:
        async with http.get(f"/api/uploads/{upload_id}", headers=headers) as response:
            state = (await response.json())["state"]
            assert state != "refused"
            if state == "waiting":
                still.add(upload_id)
    return still


@asynccontextmanager
async def _program(arguments: Sequence[str], folder: Path) -> AsyncIterator[tuple[Process, str]]:
    variables = {
        "DATA_DIR": str(folder),
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "SVC_IDENTITY_TIERS": "local",
        "ADDITIONAL_CHANNELS": "general",
        "STORAGE_BACKEND": "filesystem",
    }
    extra = ("--port", "0") if arguments[0] == "worker" else ()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _CODE, *arguments, *extra), env={**os.environ, **variables}, stderr=PIPE
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(30):
            while not (match := _LISTENING.search(line := (await process.stderr.readline()).decode())):
                assert line, f"svc {arguments[0]} exited"
        draining = None if arguments[0] == "chat" else asyncio.create_task(process.stderr.read())
        yield process, match[1]
        if draining is not None:
            draining.cancel()
    finally:
        process.terminate()
        await process.wait()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pictures", type=int, default=10)
    parser.add_argument("--uploads", type=int, default=18)
    parser.add_argument("--no-video", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asyncio.run(pictures(options.pictures))
        if not options.no_video:
            asyncio.run(films(folder))
        asyncio.run(turns())
        asyncio.run(lag(folder / "data", options.uploads))


if __name__ == "__main__":
    main()
