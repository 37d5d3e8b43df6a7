"""Measures history pages, search, opening the file and server startup in a community with a million messages.

    python -m benchmarks.chat_history [--messages 1000000]

A hundred authors wrote the messages, in ten channels. Word frequencies are as uneven as in a natural language
(Zipf). Some messages have links or reactions, or are pinned. Pages are read without the page cache, at random
positions. Searches use words of all frequencies, with and without filters. The times for pages and searches
are for single function calls, without HTTP. Startup is the time from starting `svc chat` until it is
listening. It is measured five times, and also with an empty community.
"""

import argparse
import asyncio
import itertools
import random
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.chat_world import World, opened_world
from svc.base.database import Connection
from svc.base.ids import Ids
from svc.chat.messages import search_store, store
from svc.chat.messages.message import MEMBER, Author, Message, number_of
from svc.chat.messages.page_cache import PageKey
from tests.kit.chat_process import chat_process

CHANNELS, AUTHORS, WORDS = 10, 100, 50_000
WORDS_A_MESSAGE = 9
BATCH = 5_000
CALLS, SEARCHES, STARTS = 1_000, 200, 5
FIRST_POSTED_S = 1_700_000_000.0
SPACING_S = 30.0
Reading = Awaitable[object]


@dataclass
class Result:
    name: str
    times: list[float]

    def row(self) -> str:
        ordered = sorted(ms * 1000 for ms in self.times)
        p50, p99, worst = ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100], ordered[-1]
        return f"| {self.name} | {p50:.2f} | {p99:.2f} | {worst:.2f} |"


def messages(count: int) -> list[Message]:
    chance = random.Random(1)
    moments = itertools.count(FIRST_POSTED_S, SPACING_S)
    ids = Ids(lambda: next(moments), chance.getrandbits)
    weights = list(itertools.accumulate(1 / rank for rank in range(1, WORDS + 1)))
    made = []
    for _ in range(count):
        words = chance.choices(range(WORDS), cum_weights=weights, k=WORDS_A_MESSAGE)
        text = " ".join(f"word{word}" for word in words)
        if chance.random() < 0.05:
            text += " https://example.org/page"
        channel = chance.randrange(CHANNELS)
        author = Author(MEMBER, f"member-{chance.randrange(AUTHORS)}", "Somebody")
        message_id = ids.new()
        channel_id = f"channel-{channel}" if channel else "general"
        made.append(Message(number_of(message_id), message_id, channel_id, author, text))
    return made


def fill(connection: Connection, batch: list[Message]) -> None:
    for number, message in enumerate(batch):
        store.insert(connection, message)
        if number % 20 == 0:
            connection.execute("INSERT INTO reactions VALUES (?, '👍', 'member-1', 0)", (message.n,))
        if number == 0:
            row = message.n, message.channel_id
            connection.execute("INSERT INTO pins VALUES (?, ?, 'member-1', 0)", row)
    search_store.index_changes(connection, len(batch))


async def timed(name: str, call: Callable[[], Awaitable[object]], calls: int = CALLS) -> Result:
    times = []
    for _ in range(calls):
        began = time.perf_counter()
        await call()
        times.append(time.perf_counter() - began)
    return Result(name, times)


async def read_pages(world: World, known: list[Message]) -> list[Result]:
    chance = random.Random(2)
    history = world.feature.history

    def page(before: int | None = None, after: int | None = None, around: int | None = None) -> Reading:
        channel_id = chance.choice(list(world.directory.channels))
        return history._read(PageKey(channel_id, 50, before, after, around))

    return [
        await timed("newest page of 50", page),
        await timed("50 before a message", lambda: page(before=chance.choice(known).n)),
        await timed("50 after a message", lambda: page(after=chance.choice(known).n)),
        await timed("50 around a message", lambda: page(around=chance.choice(known).n)),
    ]


async def search(world: World) -> list[Result]:
    chance = random.Random(3)

    def find(make: Callable[[], str]) -> Callable[[], Awaitable[object]]:
        return lambda: world.feature.search.find("member-1", make(), None, 25)

    def word(minimum: int, maximum: int) -> str:
        return f"word{chance.randrange(minimum, maximum)}"

    kinds: dict[str, Callable[[], str]] = {
        "the commonest words": lambda: word(0, 5),
        "common words": lambda: word(5, 500),
        "rare words": lambda: word(500, WORDS),
        "two common words": lambda: f"{word(0, 20)} {word(0, 20)}",
        "a common and a rare word": lambda: f"{word(0, 5)} {word(5_000, WORDS)}",
        "a phrase": lambda: f'"{word(0, 20)} {word(0, 20)}"',
        "a word, from: and in:": lambda: f"{word(0, 500)} from:member-{chance.randrange(AUTHORS)} in:general",
        "a word has:link before:": lambda: f"{word(0, 500)} has:link before:2024-06-01",
        "has:pin": lambda: "has:pin",
        "has:reaction": lambda: f"has:reaction {word(0, 500)}",
        "a beginning of 100 words": lambda: f"word{chance.randrange(100, 500)}",
        "a beginning of 1,000 words": lambda: f"word{chance.randrange(10, 50)}",
        "a beginning of too many words": lambda: f"word{chance.randrange(1, 5)}",
        "two words, one excluded": lambda: f"{word(5, 500)} {word(5, 500)}x -{word(0, 20)}",
        "nothing found": lambda: f"{word(0, 20)} nowhere",
    }
    return [await timed(f"search: {name}", find(make), SEARCHES) for name, make in kinds.items()]


async def start(folder: Path) -> Result:
    variables = {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(folder),
        "SVC_IDENTITY_TIERS": "local",
    }
    times = []
    for _ in range(STARTS):
        began = time.perf_counter()
        async with chat_process(variables) as server:
            times.append(time.perf_counter() - began)
            server.process.terminate()
            await server.ended()
    return Result(f"starting the server on {folder.name}", times)


def let_in(folder: Path) -> None:
    """Add the authors as members. Each of them has read half of the messages."""
    with sqlite3.connect(folder / "community.sqlite3") as connection:
        connection.executemany(
            "INSERT INTO members (id, nickname, joined_at_ms) VALUES (?, ?, 0)",
            [(f"member-{number}", f"Author {number}") for number in range(AUTHORS)],
        )
        connection.execute(
            "INSERT INTO reads SELECT members.id, channels.id,"
            " (SELECT (min(n) + max(n)) / 2 FROM messages) FROM members, channels"
        )
        connection.execute("INSERT INTO facts VALUES ('channels_seeded', '0')")
    connection.close()


async def measure(folder: Path, count: int) -> None:
    known = messages(count)
    async with opened_world(folder, AUTHORS, CHANNELS) as world:
        began = time.perf_counter()
        for batch in _batches(known):
            await world.database.write(partial(fill, batch=batch))
        print(f"Filled and indexed in {time.perf_counter() - began:.0f} s")
    began = time.perf_counter()
    async with opened_world(folder, AUTHORS, CHANNELS) as world:
        opening = Result("opening the file", [time.perf_counter() - began])
        results = [opening, *await read_pages(world, known), *await search(world)]
    let_in(folder)
    results.append(await start(folder))
    empty = folder.with_name("empty")
    empty.mkdir()
    results.append(await start(empty))
    size = (folder / "community.sqlite3").stat().st_size
    print(f"{count:,} messages, {size / 1e6:.0f} MB\n\n| | p50 ms | p99 ms | worst |\n|---|---|---|---|")
    for result in results:
        print(result.row())


def _batches(known: list[Message]) -> list[list[Message]]:
    return [known[start : start + BATCH] for start in range(0, len(known), BATCH)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--messages", type=int, default=1_000_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        full = Path(folder) / "full"
        full.mkdir()
        asyncio.run(measure(full, arguments.messages))


if __name__ == "__main__":
    main()
