"""Measures how soon pages use a new key after a member has left a call. python -m benchmarks.key_changes

Several pages in one Chromium are in an encrypted voice channel. The last page leaves the channel and joins it
again. With `--private`, they are in a private conversation's call, and the last page's member is removed from
the conversation and added again. The program prints the time from the departure until the server has the
commit that removes the device, and the time from the commit until each remaining page passes the new key to
its encryption worker.
"""

import argparse
import asyncio
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

from playwright.async_api import expect

from tests.browser.test_private import conversation
from tests.browser.test_private_groups import can_be_let_in
from tests.kit.browser_users import Capture, Person, chromium, people_at
from tests.kit.community import ask, own_id
from tests.kit.svc_up import running_svc_up
from tests.kit.wait import wait_until

PEOPLE, ROUNDS = 3, 10
CAPTURE = Capture(320, 180, 15)
SETTLE_S = 2.0
COMMITS = "SELECT epoch, sent_at_ms FROM private_entries WHERE kind = 'commit' AND conversation_id = ?"
WATCH = """() => {
  globalThis.keysAt = {};
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...more) {
    if (message?.epoch) keysAt[message.epoch.epoch] ??= Date.now();
    return post.call(this, message, ...more);
  };
}"""


class Times(NamedTuple):
    """Times in ms from the departure to the commit, and from the commit to each page's new key."""

    until_commit: list[float]
    until_key: list[float]


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--private", action="store_true")
    wanted = parser.parse_args()
    executable = chromium()
    if executable is None:
        raise SystemExit("Chromium is missing; ci/setup installs it.")
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        async with running_svc_up(data) as product, people_at(product.url, executable) as people:
            act = private_call if wanted.private else channel_call
            everybody = [
                await people.arrive(f"Person {number + 1}", capture=CAPTURE)
                for number in range(wanted.people)
            ]
            for person in everybody:
                await person.come_in()
                await person.page.evaluate(WATCH)
            until_commit, until_key = await act(everybody, data / "community.sqlite3", wanted.rounds)
            print("| ms | median | 90 % | worst |\n|---|---|---|---|")
            print_row("from leaving to the commit", until_commit)
            print_row("from the commit to the new key", until_key)


async def channel_call(everybody: Sequence[Person], database: Path, rounds: int) -> Times:
    channels = (await ask(everybody[0], "GET", "/api/channels"))["channels"]
    [channel_id] = [channel["id"] for channel in channels if channel["type"] == "voice"]
    await ask(everybody[0], "PATCH", f"/api/channels/{channel_id}", {"encrypted": True})
    for person in everybody:
        await person.enter_call()
    *staying, leaving = everybody
    times = Times([], [])
    for _ in range(rounds):
        epoch = await agreed(everybody, database, channel_id)
        left_at_ms = time.time() * 1000
        await leaving.press("Leave")
        await expect(leaving.page.locator("#call-state")).to_have_count(0)
        await note(times, left_at_ms, staying, database, channel_id, epoch)
        await leaving.page.evaluate("keysAt = {}")
        await leaving.enter_call()
    return times


async def private_call(everybody: Sequence[Person], database: Path, rounds: int) -> Times:
    first, *others = everybody
    ids = [await own_id(person) for person in others]
    for person in everybody:
        await wait_until(f"{person.name} can be admitted", partial(can_be_let_in, person), within_s=30)
    room_id = (await ask(first, "POST", "/api/private/conversations", {"members": ids}))["id"]
    # The page creates the group when it is reopened.
    await first.page.reload()
    await first.page.evaluate(WATCH)
    for person, other in ((first, others[0]), (others[0], first)):
        await person.show_channels()
        await conversation(person, other.name).click()
        await person.press("Call")
        await person.is_connected()
    *staying, _ = everybody
    times = Times([], [])
    for _ in range(rounds):
        epoch = await agreed(staying, database, room_id)
        left_at_ms = time.time() * 1000
        await ask(first, "DELETE", f"/api/private/conversations/{room_id}/members/{ids[-1]}")
        await note(times, left_at_ms, staying, database, room_id, epoch)
        await ask(first, "PUT", f"/api/private/conversations/{room_id}/members/{ids[-1]}")
        for person in staying:
            await key_at(person, epoch + 2)
    return times


async def note(
    times: Times, left_at_ms: float, staying: Sequence[Person], database: Path, room_id: str, epoch: int
) -> None:
    keys_at_ms = [await key_at(person, epoch + 1) for person in staying]
    committed_at_ms = commits(database, room_id)[epoch]
    times.until_commit.append(committed_at_ms - left_at_ms)
    times.until_key.extend(at_ms - committed_at_ms for at_ms in keys_at_ms)
    await asyncio.sleep(SETTLE_S)


async def agreed(everybody: Sequence[Person], database: Path, room_id: str) -> int:
    """Wait until all devices are in the group and every page has the current key. Return the epoch."""
    epoch = 0

    async def have_keys() -> bool:
        nonlocal epoch
        epoch = max(commits(database, room_id), default=-1) + 1
        known = [await person.page.evaluate("epoch => epoch in keysAt", epoch) for person in everybody]
        return epoch > 0 and all(known)

    await wait_until("everyone has the keys", have_keys, within_s=30)
    await asyncio.sleep(SETTLE_S)
    return epoch


async def key_at(person: Person, epoch: int) -> float:
    await person.page.wait_for_function("epoch => epoch in keysAt", arg=epoch, timeout=60_000)
    return float(await person.page.evaluate("epoch => keysAt[epoch]", epoch))


def commits(database: Path, room_id: str) -> dict[int, int]:
    """Return the time at which the server received each commit, by the epoch that the commit ended."""
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        commit_rows = connection.execute(COMMITS, (room_id,))
        return dict(commit_rows)


def print_row(name: str, times_ms: Sequence[float]) -> None:
    ordered = sorted(times_ms)
    maximum = ordered[min(len(ordered) - 1, len(ordered) * 9 // 10)]
    print(f"| {name} | {statistics.median(ordered):.0f} | {maximum:.0f} | {ordered[-1]:.0f} |")


if __name__ == "__main__":
    asyncio.run(main())
