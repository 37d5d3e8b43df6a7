"""The server and the worker are killed at random while members upload. No accepted upload is lost or stuck.

This test runs three rounds, and `ci/nightly` runs fifty.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from aiohttp import ClientError, ClientSession

from tests.chat.chat_server import ChatServer
from tests.chat.http_member import newcomer
from tests.kit import hostile_pictures, pictures, videos
from tests.kit.wait import wait_until
from tests.worker.programs import LEASE_S, Running, chat_and_worker
from tests.worker.upload_client import TooMany, UploadClient

# This must be longer than the leases of workers that were just killed, plus the delays before the next
# attempts.
SETTLE_DEADLINE_S = 90.0
SENDERS = 3
# The limit for a member's unfinished uploads. Senders wait so that they stay below it.
MAX_UNFINISHED = 12


@dataclass
class Load:
    """The uploads that members send during the kills, and those that the server has accepted."""

    client: UploadClient
    random: Random
    accepted: list[str] = field(default_factory=list)
    unaccepted: int = 0
    ended: dict[str, str] = field(default_factory=dict)

    async def send_for_ever(self) -> None:
        while True:
            try:
                if len(self.accepted) - len(self.ended) < MAX_UNFINISHED:
                    self.accepted.append(await self.client.send(self._file()))
                await self._look()
            except (ClientError, OSError, TooMany):
                self.unaccepted += 1
                with suppress(ClientError, OSError):
                    await self.client.cancel_interrupted()
            await asyncio.sleep(self.random.uniform(0.02, 0.2))

    def _file(self) -> bytes:
        match self.random.randrange(6):
            case 0:
                return FILM
            case 1:
                return BOMB
            case 2:
                return hostile_pictures.mutated(PHOTOGRAPH, self.random)[:100_000] or b"x"
            case _:
                return PHOTOGRAPH

    async def _look(self) -> None:
        """Check the state of the oldest open uploads."""
        for upload_id in self.open[:5]:
            state = (await self.client.upload(upload_id))["state"]
            if state in ("done", "refused"):
                self.ended[upload_id] = state

    async def settled(self) -> bool:
        await self._look()
        return not self.open

    @property
    def open(self) -> list[str]:
        return [upload_id for upload_id in self.accepted if upload_id not in self.ended]


PHOTOGRAPH = pictures.encoded(pictures.noise(400, 300), "JPEG", quality=60)
BOMB = pictures.gif_bomb(1600, 1000)
FILM = videos.video("mpeg4", "mp3", "mov", size=(320, 240), frames=60)


@pytest.fixture
async def programs(tmp_path: Path) -> AsyncIterator[tuple[Running, Running, str]]:
    chat, worker, address = chat_and_worker(tmp_path)
    await chat.start()
    await worker.start()
    yield chat, worker, address
    await worker.kill()
    await chat.kill()


async def rounds(programs: tuple[Running, Running, str], data_dir: Path, count: int, seed: int) -> Load:
    chat, worker, address = programs
    random = Random(seed)
    async with ClientSession(address) as http:
        server = ChatServer(address, http, (data_dir / "invite-code").read_text().strip())
        load = Load(UploadClient(server, await newcomer(server, "Owner"), {}), random)
        # Send at least one file to serve and one to reject, independently of the random choices.
        load.accepted += [await load.client.send(file) for file in (PHOTOGRAPH, BOMB)]
        senders = [asyncio.create_task(load.send_for_ever()) for _ in range(SENDERS)]
        for _ in range(count):
            await asyncio.sleep(random.uniform(0.3, 3.0))
            for program in random.choice(([chat], [worker], [chat, worker])):
                await program.kill()
                await program.start()
        for sender in senders:
            sender.cancel()
        for result in await asyncio.gather(*senders, return_exceptions=True):
            assert isinstance(result, asyncio.CancelledError), result
        await wait_until("every upload is finished", load.settled, within_s=SETTLE_DEADLINE_S)
        await check_results(load)
    return load


async def check_results(load: Load) -> None:
    for upload_id in load.accepted:
        shown = await load.client.upload(upload_id)
        if shown["state"] == "done":
            served = await load.client.get(shown["result"]["url"])
            assert len(served) == shown["result"]["bytes"]
        else:
            assert shown["refusal"]["code"] in (
                "too_large",
                "invalid_image",
                "unsupported_type",
                "invalid_video",
            )


async def test_every_accepted_upload_is_eventually_served_or_rejected(
    programs: tuple[Running, Running, str], tmp_path: Path
) -> None:
    load = await rounds(programs, tmp_path, 3, seed=1)
    assert len(load.accepted) > 5
    assert set(load.ended.values()) == {"done", "refused"}


@pytest.mark.nightly("fifty rounds; three run daily")
@pytest.mark.timeout(1800)
async def test_after_fifty_kills_every_accepted_upload_is_eventually_served_or_rejected(
    programs: tuple[Running, Running, str], tmp_path: Path
) -> None:
    load = await rounds(programs, tmp_path, 50, seed=2)
    assert LEASE_S < SETTLE_DEADLINE_S
    print(f"accepted {len(load.accepted)}, cut off {load.unaccepted}")  # noqa: T201
    assert len(load.accepted) > 100
