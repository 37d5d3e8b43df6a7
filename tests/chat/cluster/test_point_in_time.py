"""A community can be restored to a point in time from a snapshot and the log on real NATS servers."""

import asyncio
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from aiohttp import ClientSession

from svc.chat.cluster.snapshots import superfluous
from tests.kit.chat_nodes import ChatNode, chat_nodes, owner_among, token_of
from tests.kit.nats_cluster import nats_cluster

FLAGS = ("--cluster-trust-sync", "--cluster-lease", "1.5")
MESSAGES = "/api/channels/general/messages"
HOUR_S = 3600


async def restored(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run `svc admin restore`. Return its exit status and its output."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "svc.cli", "admin", "restore", "--json", "--data-dir", str(folder)),
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    return await process.wait(), output.decode()


async def test_a_community_can_be_restored_to_its_state_before_any_given_second(tmp_path: Path) -> None:
    async with (
        nats_cluster(tmp_path) as servers,
        chat_nodes(tmp_path, servers.urls, names="ab", flags=FLAGS) as (owner, _),
    ):
        token = await token_of(owner, "Ada")
        async with ClientSession(owner.address, headers={"Authorization": f"Bearer {token}"}) as http:

            async def post(text: str) -> str:
                async with http.post(MESSAGES, json={"text": text, "nonce": text[:40]}) as answer:
                    assert answer.status == 201, await answer.text()
                    return str((await answer.json())["id"])

            first = await post("first")
            large = await post("é" * 2000)
            moment = datetime.now(UTC)
            async with http.delete(f"{MESSAGES}/{first}") as answer:
                assert answer.status in (200, 204), await answer.text()
            await post("later")

        target, url = tmp_path / "restored", ("--cluster", servers.urls[0])
        status, output = await restored(target, "--at", moment.isoformat(), *url, "--verify")
        assert status == 0, output
        assert json.loads(output)["at"] == moment.isoformat()

        again = ChatNode("c", tmp_path, servers.urls, (*FLAGS, "--cluster-name", "again"))
        again.variables["DATA_DIR"] = str(target)
        await again.start()
        await owner_among([again])
        headers = {"Authorization": f"Bearer {token}"}
        async with ClientSession(again.address, headers=headers) as http, http.get(MESSAGES) as page:
            messages = (await page.json())["messages"]
        await again.kill()
        assert {message["id"] for message in messages} >= {first, large}
        assert "later" not in {message["text"] for message in messages}

        refusals = {
            ("--at", "2020-01-01T00:00:00Z", *url): "no snapshot is that old",
            ("--at", (moment + timedelta(days=1)).isoformat(), *url): "is in the future",
            ("--at", moment.isoformat(), *url, "--cluster-name", "none"): "NATS has no stream none",
            ("--at", "yesterday", *url): "is not a time like",
            url: "either FILE or --at TIME",
        }
        for arguments, reason in refusals.items():
            status, output = await restored(tmp_path / "refused", *arguments)
            assert status == 2 and reason in output, output
        assert not (tmp_path / "refused").exists()


def test_the_last_three_snapshots_and_the_first_of_each_day_are_kept() -> None:
    now = 20_000 * 24 * HOUR_S + 12 * HOUR_S
    hourly = [(f"{240 - hours:020}", float(now - hours * HOUR_S)) for hours in range(240)]
    deleted = set(superfluous(hourly, now))
    ages_h = [hours for hours in range(240) if hourly[hours][0] not in deleted]
    # The log covers eight periods of 24 hours. They begin at 12:00, but a day begins at 0:00.
    assert ages_h == [0, 1, 2, 12, 36, 60, 84, 108, 132, 156, 180, 191]
