"""Measures the web client in Chromium against its budgets: bytes, first message, longest task, echo, heap.

    python -m benchmarks.page [--rounds 3] [--seconds 20] [--messages 20000] [--only first busy scrolled]

The server is `svc chat` in its own process, on this machine. `first` measures the bytes received, including
headers, until the first message is on the screen. The browser emulates a link with 50 ms and 10 Mbit/s for
requests, but not for the live socket. A new member has a fresh profile, follows an invite, and waits twice:
for the form, and for the first message after pressing Join. A returning member's browser has only the device
key: no cache, no service worker, no stored messages.

`busy` has 1,000 members and 200 channels. Twenty writers send 50 messages a second, half of them to the open
channel, which is at its message limit. The longest task on the page's main thread is taken from the browser's
trace, together with its CPU time. On a busy machine, the task's duration exceeds its CPU time because of
other load. Echo is measured from the keystroke's timestamp to the end of the frame that shows the character,
also taken from the trace. It is also measured to the time when that frame is on the screen, which the browser
reports in steps of 8 ms. Without a graphics card, the same cores render the page.

`scrolled` scrolls from the newest message to the beginning and back. It measures the heap after garbage
collection, the longest task, and the peak number of DOM elements. It starts after a short warm-up, when the
browser has compiled the code and the device's keys exist.
"""

import argparse
import asyncio
import itertools
import json
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from playwright.async_api import Browser, BrowserContext, CDPSession, Page, async_playwright, expect

from benchmarks.chat_history import FIRST_POSTED_S, fill
from benchmarks.chat_world import opened_world
from svc.base.ids import Ids
from svc.chat.messages.message import MEMBER, Author, Message, number_of
from svc.tools.bench.chat_server import ChatServer
from svc.tools.bench.members import Member, Tally
from svc.tools.bench.sign_up import join_all
from tests.kit.browser_users import FLAGS, chromium
from tests.kit.chat_process import chat_process

LATENCY_MS, BYTES_PER_S = 50, 10_000_000 / 8
MEMBERS, CHANNELS, WRITERS, MESSAGES_PER_S = 1000, 200, 20, 50
BATCH, SMALL = 5000, 60
SPACING_S = 120.0
KEYS = 40
DEADLINE_MS = 120_000
WARM_UP = 60
HELD = 210  # The value of MOST in state/conversation.js.
SETTLED_MS = 5000
SHOWN = ".messages .message .text"
TEXTS = (
    "Shall we meet **tomorrow** at ten?",
    "The build is through: https://ci.example.org/builds/4711 :tada:",
    "> what about the door\n\nIt *creaks*, and `make oil` does not help.",
    "- bread\n- cheese\n- a lamp for the hall\n\nand that is all, I think",
    "I have read it twice now, and the second half still says something else than the first one does.",
)
WATCH = """
window.first = new Promise((found) => {
  const look = () => {
    const shown = document.querySelector(%s);
    if (shown) requestAnimationFrame(() => setTimeout(() => found(performance.now())));
    else requestAnimationFrame(look);
  };
  look();
});
"""
# Adds a performance mark to the trace in the frame that shows a character. The mark contains the time since
# the keystroke in ms.
ECHO = """() => {
  window.presented = [];
  new PerformanceObserver((list) => {
    const keys = list.getEntries().filter(({ name }) => name === "keydown");
    window.presented.push(...keys.map(({ duration }) => duration));
  }).observe({ type: "event", durationThreshold: 16 });
  document.addEventListener("keydown", (event) => {
    requestAnimationFrame(() => performance.mark(`echo ${performance.now() - event.timeStamp}`));
  }, true);
}"""
# This keeps the device key, which is in a different database from the cached messages.
FORGET = """async () => {
  await navigator.serviceWorker.ready;
  for (const worker of await navigator.serviceWorker.getRegistrations()) await worker.unregister();
  for (const name of await caches.keys()) await caches.delete(name);
  indexedDB.deleteDatabase("svc.read");
}"""
ELEMENTS = "document.querySelectorAll('*').length"
PRESSED = """() => addEventListener("click", (event) => { window.pressed = event.timeStamp; }, true)"""


def messages(count: int, channels: int) -> list[Message]:
    """Write messages, most of them to the open channel."""
    chance, moments = random.Random(1), itertools.count(FIRST_POSTED_S, SPACING_S)
    ids = Ids(lambda: next(moments), chance.getrandbits)
    made = []
    for number in range(count + channels):
        author = Author(MEMBER, f"member-{chance.randrange(50)}", "Somebody")
        channel_id = f"channel-{number}" if 0 < number < channels else "general"
        message_id = ids.new()
        made.append(Message(number_of(message_id), message_id, channel_id, author, chance.choice(TEXTS)))
    return made


@asynccontextmanager
async def community(folder: Path, members: int, channels: int, count: int) -> AsyncIterator[ChatServer]:
    """Run a server whose community has messages and offline members."""
    async with opened_world(folder, members, channels) as world:
        known = messages(count, channels)
        for start in range(0, len(known), BATCH):
            await world.database.write(partial(fill, batch=known[start : start + BATCH]))
    with sqlite3.connect(folder / "community.sqlite3") as connection:
        connection.executemany(
            "INSERT INTO members (id, nickname, joined_at_ms) VALUES (?, ?, 0)",
            [(f"member-{number}", f"Author {number}") for number in range(members)],
        )
        connection.execute("INSERT INTO facts VALUES ('channels_seeded', '0')")
    connection.close()
    variables = {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(folder),
        "SVC_IDENTITY_TIERS": "local",
        "MAX_MEMBERS": "100000",
    }
    async with chat_process(variables) as process:
        invite = (folder / "invite-code").read_text().strip()
        yield ChatServer(process.address, invite, process.process.pid)


@asynccontextmanager
async def profile(browser: Browser) -> AsyncIterator[tuple[BrowserContext, Page, CDPSession]]:
    """Open a page in a fresh browser profile, with its developer tools."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(DEADLINE_MS)
    await context.add_init_script(WATCH % json.dumps(SHOWN))
    page = await context.new_page()
    tools = await context.new_cdp_session(page)
    await tools.send("Network.enable")
    yield context, page, tools
    await context.close()


async def come_in(page: Page, server: ChatServer, name: str) -> None:
    await page.goto(f"{server.address}/#invite={server.invite}")
    await page.get_by_label("Your name").fill(name)
    await page.get_by_role("button", name="Join", exact=True).click()
    await page.locator(SHOWN).first.wait_for()


class ReceivedBytes:
    """Counters of the bytes received over the network, by resource type."""

    def __init__(self, tools: CDPSession) -> None:
        self.bytes: dict[str, float] = {}
        self._kinds: dict[str, str] = {}
        tools.on("Network.responseReceived", self._begin)
        tools.on("Network.loadingFinished", self._end)

    @property
    def requests(self) -> int:
        return len(self._kinds)

    def _begin(self, event: dict[str, Any]) -> None:
        if not event["response"].get("fromServiceWorker"):
            self._kinds[event["requestId"]] = event["type"]

    def _end(self, event: dict[str, Any]) -> None:
        kind = self._kinds.get(event["requestId"])
        if kind:
            self.bytes[kind] = self.bytes.get(kind, 0) + event["encodedDataLength"]


async def slow(tools: CDPSession) -> None:
    link = {"latency": LATENCY_MS, "downloadThroughput": BYTES_PER_S, "uploadThroughput": BYTES_PER_S}
    await tools.send("Network.emulateNetworkConditions", {"offline": False, **link})


async def newcomer(browser: Browser, server: ChatServer, number: int) -> tuple[float, float, ReceivedBytes]:
    """Return the time in ms until the form appears, and from clicking Join until the first message
    appears.
    """
    async with profile(browser) as (_, page, tools):
        await slow(tools)
        received = ReceivedBytes(tools)
        await page.goto(f"{server.address}/#invite={server.invite}", wait_until="commit")
        await page.get_by_label("Your name").wait_for()
        form_ms = float(await page.evaluate("performance.now()"))
        await page.get_by_label("Your name").fill(f"Newcomer {number}")
        await page.evaluate(PRESSED)
        await page.get_by_role("button", name="Join", exact=True).click()
        first_ms = float(await page.evaluate("window.first.then((shown) => shown - window.pressed)"))
        return form_ms, first_ms, received


async def returning(browser: Browser, server: ChatServer, number: int) -> tuple[float, ReceivedBytes]:
    """Return the time in ms until the first message appears in a browser that has stored only the device
    key.
    """
    async with profile(browser) as (context, page, tools):
        await come_in(page, server, f"Returning {number}")
        await page.evaluate(FORGET)
        await page.close()
        page = await context.new_page()
        tools = await context.new_cdp_session(page)
        await tools.send("Network.enable")
        await tools.send("Network.clearBrowserCache")
        await slow(tools)
        received = ReceivedBytes(tools)
        await page.goto(server.address, wait_until="commit")
        return float(await page.evaluate("window.first")), received


async def measure_first(browser: Browser, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with community(Path(folder), 50, 1, SMALL) as server:
            forms, joins, returns = [], [], []
            for number in range(rounds):
                form_ms, join_ms, _ = await newcomer(browser, server, number)
                return_ms, received = await returning(browser, server, number)
                forms.append(form_ms)
                joins.append(join_ms)
                returns.append(return_ms)
            own = received.bytes.get("Script", 0) + received.bytes.get("Stylesheet", 0)
            all_kb = sum(received.bytes.values()) / 1000
            row("scripts and styles before the first message, KB", [own / 1000], "≤ 120")
            row(f"everything before it, KB, in {received.requests} requests", [all_kb], "")
            row("first message, who comes back with an empty cache, ms", returns, "≤ 1,000")
            row("newcomer: the form, ms", forms, "")
            row("newcomer: first message after Join, ms", joins, "")


async def write_on(writers: Sequence[Member], channels: int) -> None:
    chance, due = random.Random(2), time.monotonic()
    sending = set[asyncio.Task[None]]()
    for number in itertools.count():
        channel = f"channel-{chance.randrange(1, channels)}" if number % 2 else "general"
        task = asyncio.create_task(writers[number % len(writers)].post(channel, 120))
        sending.add(task)
        task.add_done_callback(sending.discard)
        due += 1 / MESSAGES_PER_S
        await asyncio.sleep(max(due - time.monotonic(), 0))


@dataclass(frozen=True, slots=True)
class Task:
    """A task on the page's main thread, in µs."""

    start: float
    lasted: float
    cpu: float


class Trace:
    """The tasks and marks on the page's main thread while the block runs."""

    def __init__(self, tools: CDPSession) -> None:
        self._tools = tools
        self._events: list[dict[str, Any]] = []
        self._done = asyncio.Event()
        self.tasks: list[Task] = []
        self.marks: list[tuple[float, str]] = []

    async def __aenter__(self) -> "Trace":
        self._tools.on("Tracing.dataCollected", lambda data: self._events.extend(data["value"]))
        self._tools.on("Tracing.tracingComplete", lambda _: self._done.set())
        categories = ["toplevel", "disabled-by-default-devtools.timeline", "__metadata", "blink.user_timing"]
        await self._tools.send("Tracing.start", {"traceConfig": {"includedCategories": categories}})
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._tools.send("Tracing.end")
        await self._done.wait()
        self.tasks, self.marks = read_trace(self._events)


def read_trace(events: Sequence[dict[str, Any]]) -> tuple[list[Task], list[tuple[float, str]]]:
    """Return the tasks on the pages' main threads, and the echo marks."""
    mains = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    on_main = [event for event in events if (event["pid"], event["tid"]) in mains]
    tasks = [
        Task(event["ts"], event["dur"], event.get("tdur", 0))
        for event in on_main
        if event["name"].endswith("RunTask") and "dur" in event
    ]
    return tasks, [(event["ts"], event["name"]) for event in on_main if event["name"].startswith("echo ")]


async def typed(tools: CDPSession, seconds: float, page: Page) -> tuple[list[Task], list[float]]:
    """Return the main thread's tasks while a member is typing, and the echo of each character in ms."""
    async with Trace(tools) as trace:
        await page.locator("#draft").focus()
        await page.evaluate(ECHO)
        for letter in range(KEYS):
            await page.keyboard.press("abcdefghij"[letter % 10])
            await asyncio.sleep(seconds / KEYS)
    tasks = trace.tasks
    return tasks, [float(name.split()[1]) + left_us(tasks, at) / 1000 for at, name in trace.marks]


def left_us(tasks: Sequence[Task], at: float) -> float:
    """Return the remaining time of the task that is running at the given time, in µs."""
    ends = [task.start + task.lasted for task in tasks if task.start <= at <= task.start + task.lasted]
    return max(ends) - at


async def fill_page(page: Page) -> None:
    """Scroll up until the page is full of messages.

    If it scrolled further, the page would remove the newest messages.
    """
    shown = page.locator(".messages .message")
    while (count := await shown.count()) < HELD:
        await further_up(page)
        await expect(shown).not_to_have_count(count, timeout=DEADLINE_MS)
    await page.locator("#to-end").click()


async def measure_busy(browser: Browser, rounds: int, seconds: float) -> None:
    longest, longest_cpu, echoes, worst_echoes, presented = [], [], list[float](), [], []
    with tempfile.TemporaryDirectory() as folder:
        async with community(Path(folder), MEMBERS, CHANNELS, 1000) as server:
            writers: list[Member] = []

            async def arrive(token: str) -> None:
                writers.append(Member(Tally()))
                await writers[-1].sign_in(server.address.replace("http", "ws", 1) + "/live", token)

            for number in range(rounds):
                async with profile(browser) as (_, page, tools):
                    await come_in(page, server, f"Reader {number}")
                    await page.locator("#channels button", has_text="general").first.click()
                    await fill_page(page)
                    if not writers:
                        await join_all(server, WRITERS, 8, arrive)
                    writing = asyncio.create_task(write_on(writers, CHANNELS))
                    await asyncio.sleep(2)
                    tasks, shown = await typed(tools, seconds, page)
                    writing.cancel()
                    presented.append(float(await page.evaluate("Math.max(0, ...window.presented)")))
                longest.append(max(task.lasted for task in tasks) / 1000)
                longest_cpu.append(max(task.cpu for task in tasks) / 1000)
                echoes += shown
                worst_echoes.append(max(shown))
            for writer in writers:
                writer.leave()
    row(f"{MESSAGES_PER_S} messages/s: longest task, ms", longest, "≤ 50")
    row("the same, on the processor, ms", longest_cpu, "")
    row("the same: key to echo, median, ms", [median(echoes)], "≤ 16")
    row("the same: key to echo, 95th percentile, ms", [quantiles(echoes, n=20)[-1]], "≤ 50")
    row("the same: key to echo, slowest of a round, ms", worst_echoes, "≤ 50")
    row("the same: key to the screen, slowest of a round, ms", presented, "")


async def heap_kb(tools: CDPSession) -> float:
    for _ in range(3):
        await tools.send("HeapProfiler.collectGarbage")
    return float((await tools.send("Runtime.getHeapUsage"))["usedSize"]) / 1000


async def further_up(page: Page) -> None:
    """Scroll up as soon as more messages have been loaded."""
    await page.locator(".messages-box").evaluate(
        "(box) => new Promise((done) => { box.scrollTop = 0; setTimeout(done, 30); })"
    )


async def measure_scrolled(browser: Browser, count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with community(Path(folder), 50, 1, count) as server, profile(browser) as (_, page, tools):
            await come_in(page, server, "Reader")
            for _ in range(WARM_UP):
                await further_up(page)
            await page.locator("#to-end").click()
            await page.wait_for_timeout(SETTLED_MS)
            before = await heap_kb(tools)
            began = time.monotonic()
            elements = []
            async with Trace(tools) as trace:
                while not await page.locator("#beginning").count():
                    await further_up(page)
                    elements.append(int(await page.evaluate(ELEMENTS)))
            took_s, nodes = time.monotonic() - began, await page.locator(".messages .message").count()
            far = await heap_kb(tools)
            await page.locator("#to-end").click()
            await page.wait_for_timeout(SETTLED_MS)
            after = await heap_kb(tools)
    row(f"{count:,} messages scrolled in {took_s:.0f} s: heap before, MB", [before / 1000], "")
    row("the longest task on the way, ms", [max(task.lasted for task in trace.tasks) / 1000], "≤ 50")
    row("the same, on the processor, ms", [max(task.cpu for task in trace.tasks) / 1000], "≤ 50")
    row("the most elements on the way", [max(elements)], "≤ 3,000")
    row(f"at the beginning, {nodes} messages on the page, MB", [far / 1000], "")
    row("at the newest again, MB", [after / 1000], "")
    row("change of the heap, %", [(after - before) / before * 100], "≤ 10")


def row(what: str, values: Sequence[float], target: str) -> None:
    """Print a table row with the best round, followed by all rounds."""
    every = ", ".join(f"{value:,.1f}" for value in values)
    print(f"| {what} | {min(values):,.1f} | {every if len(values) > 1 else ''} | {target} |", flush=True)


async def measure(arguments: argparse.Namespace) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        # A real member's machine runs neither the server nor the writers, so the browser gets priority over
        # them.
        os.nice(19)
        print("| | best | every round | target |\n|---|---|---|---|", flush=True)
        if "first" in arguments.only:
            await measure_first(browser, arguments.rounds)
        if "busy" in arguments.only:
            await measure_busy(browser, arguments.rounds, arguments.seconds)
        if "scrolled" in arguments.only:
            await measure_scrolled(browser, arguments.messages)
        await browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--only", nargs="+", default=["first", "busy", "scrolled"])
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
