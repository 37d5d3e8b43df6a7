"""Runs Debian's Alertmanager in its own process, with a configured receiver.

ci/setup unpacks it. It listens on a port chosen by the kernel and has no peers.
"""

import asyncio
import json
import os
import re
import shutil
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiohttp import ClientSession

UNPACKED = Path(__file__).parents[2] / "build" / "unpacked" / "usr" / "bin"
TEMPLATES = Path("/usr/share/prometheus/alertmanager")
START_DEADLINE_S = 30.0
_LISTENING = re.compile(r'msg="Listening on" address=(\S+)')


class Alertmanager:
    def __init__(self, http: ClientSession) -> None:
        self._http = http

    async def alert(self, name: str, summary: str, **labels: str) -> None:
        await self._post(name, summary, labels, timedelta(hours=1))

    async def resolve(self, name: str, **labels: str) -> None:
        await self._post(name, "", labels, timedelta(seconds=-1))

    async def _post(self, name: str, summary: str, labels: dict[str, str], ends: timedelta) -> None:
        now = datetime.now(UTC)
        alert = {
            "labels": {"alertname": name, **labels},
            "annotations": {"summary": summary},
            "startsAt": (now - timedelta(minutes=1)).isoformat(),
            "endsAt": (now + ends).isoformat(),
        }
        async with self._http.post("/api/v2/alerts", json=[alert]) as response:
            assert response.status == 200, await response.text()


@asynccontextmanager
async def alertmanager(configuration: str, folder: Path) -> AsyncIterator[Alertmanager]:
    """Run Alertmanager with this configuration (YAML). Skip the test if the program is missing."""
    program = _program()
    written = folder / "alertmanager.yml"
    written.write_text(configuration)
    process = await asyncio.create_subprocess_exec(
        *(program, f"--config.file={written}", f"--storage.path={folder / 'alerts'}"),
        *("--web.listen-address=127.0.0.1:0", "--cluster.listen-address="),
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=STDOUT,
    )
    assert process.stdout is not None
    reading = None
    try:
        async with asyncio.timeout(START_DEADLINE_S):
            address = await _address(process.stdout)
        # Read and discard the output, so that the pipe does not fill up.
        reading = asyncio.create_task(process.stdout.read())
        async with ClientSession(f"http://{address}") as http:
            yield Alertmanager(http)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        if reading is not None:
            await reading


def _program() -> str:
    program = shutil.which("prometheus-alertmanager", path=f"{os.environ['PATH']}:{UNPACKED}")
    if program is None or not TEMPLATES.exists():
        pytest.skip("prometheus-alertmanager or its templates are missing (ci/setup installs them)")
    return program


async def _address(output: asyncio.StreamReader) -> str:
    lines = []
    while line := (await output.readline()).decode():
        if match := _LISTENING.search(line):
            return match[1]
        lines.append(line)
    raise AssertionError("".join(lines))


def posting_to_slack(slack_url: str) -> str:
    """Return a configuration that immediately posts to this URL, in Slack's format. JSON is valid YAML."""
    field = {"title": "Severity", "value": "{{ .CommonLabels.severity }}", "short": True}
    slack = {
        "api_url": slack_url,
        "channel": "#alerts",
        "send_resolved": True,
        "text": "{{ range .Alerts }}{{ .Annotations.summary }}{{ end }}",
        "fields": [field],
    }
    route = {"receiver": "chat", "group_wait": "0s", "group_interval": "1s", "group_by": ["alertname"]}
    return json.dumps({"route": route, "receivers": [{"name": "chat", "slack_configs": [slack]}]})
