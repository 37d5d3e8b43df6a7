"""Runs the commands in the README as written against a running installation."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from aiohttp import ClientSession

from svc.tools.cluster_demo import free_ports
from tests.chat.chat_server import ChatServer
from tests.kit.programs import output_of
from tests.kit.svc_up import running_svc_up

REPOSITORY = Path(__file__).parent.parent
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", (REPOSITORY / "README.md").read_text(), re.MULTILINE | re.DOTALL)


def test_the_make_targets_in_the_readme_exist() -> None:
    commands = [line.partition("#")[0].split() for line in BLOCKS[0].splitlines()]
    assert commands == [["make", "run"], ["make", "test"]]
    for command in commands:
        planned = subprocess.run([*command, "-n"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
        assert planned.stdout


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
async def test_the_commands_in_the_readme_post_back_up_and_restore(tmp_path: Path) -> None:
    assert len(BLOCKS) == 2, "the block is not tested"
    (udp_port,) = free_ports(1)
    async with running_svc_up(tmp_path / "data", "--udp-port", str(udp_port)) as product:
        address = "{0.scheme}://{0.netloc}".format(urlsplit(product.url))
        invite = product.url.partition("invite=")[2]
        # The tests use their own ports instead of the usual ones.
        script = BLOCKS[1].replace("http://127.0.0.1:5000", address)
        script = script.replace("svc doctor", f"svc doctor --udp-port {udp_port}")
        async with (
            ClientSession(address) as http,
            ChatServer(address, http, invite).member("Olga") as olga,
        ):
            printed = await output_of("sh", "-eu", "-c", in_place(script), cwd=tmp_path)
            posted = await olga.pushed("message_posted")
        assert '"message_id"' in printed
        assert "PROBLEM" not in printed
        assert (posted["author"]["display_name"], posted["text"]) == ("Robot", "Hello from a script")
    async with running_svc_up(tmp_path / "restored"):
        command = in_place(".venv/bin/svc admin member list --data-dir restored")
        assert "Olga" in await output_of(*command.split(), cwd=tmp_path)


def in_place(script: str) -> str:
    """Make a script run this environment's `svc` command, so that the script works in any folder."""
    return script.replace(".venv/bin/svc", str(Path(sys.executable).with_name("svc")))
