"""The example in docs/bots.md runs as written, even over a connection that is cut repeatedly."""

import asyncio
import os
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.chat.members_by_role import MembersByRole
from tests.kit.severable_proxy import severable_proxy

DOCUMENT = Path(__file__).parents[2] / "docs" / "bots.md"
(EXAMPLE,) = re.findall(r"^```python\n(.*?)^```$", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)
GENERAL = "/api/channels/general/messages"
DEADLINE_S = 60.0
TIMES = 100
# The time in seconds between two cuts in the connection.
APART = 12


@asynccontextmanager
async def example(address: str, token: str, folder: Path) -> AsyncIterator[Process]:
    """Run the example in the same way as a user who has copied it."""
    (folder / "bot.py").write_text(EXAMPLE)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "bot.py"),
        cwd=folder,
        env={**os.environ, "SVC_ADDRESS": address, "SVC_TOKEN": token},
        stderr=PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        _, output = await process.communicate()
        assert b"Traceback" not in output, output.decode()


async def test_the_example_responds_100_times_over_an_unreliable_connection(
    members: MembersByRole, tmp_path: Path
) -> None:
    made = await members.owner.done("POST", "/api/bots", {"nickname": "Helper"})
    bot_id, token = made["member"]["id"], made["token"]
    async with (
        severable_proxy(members.chat.address) as proxy,
        members.live("member") as [member],
        example(proxy.url, token, tmp_path),
    ):
        async with asyncio.timeout(DEADLINE_S):
            while not (pushed := await member.pushed("presence"))["online"] or pushed["member_id"] != bot_id:
                pass
            answers: list[str] = []
            for number in range(TIMES):
                await members.member.done("POST", GENERAL, {"text": f"!ping {number}"})
                if number % APART == 0:
                    # The bot may have seen none, some or all of these messages, and may have replied without
                    # knowing it.
                    await proxy.drop()
            while len(answers) < TIMES:
                posted: dict[str, Any] = await member.pushed("message_posted")
                if posted["author"]["id"] == bot_id:
                    answers.append(posted["text"])
                    if len(answers) % APART == 0:
                        await proxy.drop()
        await members.member.done("POST", GENERAL, {"text": "good bot"})
        async with asyncio.timeout(DEADLINE_S):
            assert (await member.pushed("reactions_changed"))["member_id"] == bot_id
        assert proxy.drops >= TIMES // APART
    assert answers == [f"pong {number}" for number in range(TIMES)]
    posted_by_it = []
    page = await members.member.done("GET", f"{GENERAL}?limit=100")
    while page["messages"]:
        posted_by_it += [message["text"] for message in page["messages"] if message["author"]["id"] == bot_id]
        page = await members.member.done("GET", f"{GENERAL}?limit=100&before={page['messages'][0]['id']}")
    assert sorted(posted_by_it) == sorted(answers)


def test_the_example_is_short() -> None:
    lines = [line for line in EXAMPLE.splitlines() if line.strip()]
    assert len(lines) <= 30
