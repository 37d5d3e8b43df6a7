"""Tests the dashboard and the alerts with a real Prometheus server that monitors running servers."""

import asyncio
import json
import re
import subprocess
from asyncio.subprocess import DEVNULL, STDOUT
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import filterfalse
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from aiohttp import ClientError, ClientSession

from svc.chat.cluster.measurements import DESCRIPTIONS, RELAY_COUNTERS, RELAY_GAUGES
from svc.tools.cluster_demo import free_ports
from tests.chat.chat_server import ChatServer, chat_server
from tests.kit.external_programs import required
from tests.kit.sfu_process import SECRET, running_sfu
from tests.kit.wait import wait_until

REPOSITORY = Path(__file__).parents[2]
DEPLOY = REPOSITORY / "deploy"
SCRAPES = 4
# The value that Grafana inserts if Prometheus scrapes every second.
RATE_INTERVAL = "4s"
METRIC = re.compile(r"\bsvc_[a-z0-9_]+")


def queries() -> list[str]:
    dashboard = json.loads((DEPLOY / "grafana" / "svc.json").read_text())
    targets = [target for panel in dashboard["panels"] for target in panel.get("targets", ())]
    return [target["expr"] for target in targets]


def needs_a_cluster(query: str) -> bool:
    return "svc_chat_cluster_" in query or "svc_relay_" in query


def checked(*arguments: str) -> None:
    command = (required("promtool"), *arguments)
    verdict = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert verdict.returncode == 0, verdict.stdout + verdict.stderr


def test_promtool_accepts_the_configuration_and_the_rules() -> None:
    checked("check", "config", str(DEPLOY / "prometheus" / "prometheus.yml"))


def test_each_alert_fires_on_its_cause_but_not_in_normal_operation() -> None:
    checked("test", "rules", str(Path(__file__).with_name("alerts_test.yml")))
    tried = Path(__file__).with_name("alerts_test.yml").read_text()
    alerts = re.findall(r"- alert: (\w+)", (DEPLOY / "prometheus" / "alerts.yml").read_text())
    assert [name for name in alerts if f"alertname: {name} " not in tried] == []
    assert f"value: {len(alerts)} " in tried


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[tuple[ChatServer, dict[str, str]]]:
    async with running_sfu() as sfu:
        variables = {
            "PORT": "0",
            "JWT_SECRET": "a secret of at least thirty-two bytes",
            "DATA_DIR": str(tmp_path / "data"),
            "SVC_IDENTITY_TIERS": "local",
            "SFU_WS_HOST": f"127.0.0.1:{sfu.http_port}",
            "SERVER_ID": "home",
            "SERVER_PASSWORD": SECRET,
            "DISABLE_STUN": "true",
        }
        async with chat_server(variables) as chat:
            yield chat, {"svc-chat": urlsplit(chat.address).netloc, "svc-sfu": f"127.0.0.1:{sfu.http_port}"}


async def test_every_query_in_the_dashboard_returns_data(
    chat: tuple[ChatServer, dict[str, str]], tmp_path: Path
) -> None:
    server, targets = chat
    async with server.member("Ada") as ada, prometheus(targets, tmp_path) as prometheus_api:
        for number in range(3):
            await ada.ask("message_send", channel_id="general", text=f"message {number}")
        await ada.ask("message_send", channel_id="general", text="")

        async def scraped() -> bool:
            counts = await prometheus_api(f"min(count_over_time(up[1m])) >= {SCRAPES} and min(up) == 1")
            return bool(counts)

        await wait_until("both have been scraped", scraped, within_s=60)
        empty = []
        for query in filterfalse(needs_a_cluster, queries()):
            if not await prometheus_api(query.replace("$__rate_interval", RATE_INTERVAL)):
                empty.append(query)
        assert empty == []


async def test_the_dashboard_and_the_alerts_use_only_existing_metrics(
    chat: tuple[ChatServer, dict[str, str]],
) -> None:
    _, targets = chat
    exposition = ""
    async with ClientSession() as http:
        for target in targets.values():
            async with http.get(f"http://{target}/metrics") as response:
                exposition += await response.text()
    metrics = set(METRIC.findall(" ".join(queries()) + (DEPLOY / "prometheus" / "alerts.yml").read_text()))
    known = set(METRIC.findall(exposition)) | {*DESCRIPTIONS, *RELAY_GAUGES, *RELAY_COUNTERS}
    # A counter without samples appears only in comments, without its suffix.
    assert {
        name for name in metrics if name not in known and name.removesuffix("_total") not in known
    } == set()


@asynccontextmanager
async def prometheus(targets: dict[str, str], folder: Path) -> AsyncIterator["Asked"]:
    """Run a Prometheus server that scrapes every second."""
    program, (port,) = required("prometheus"), free_ports(1)
    jobs = [{"job_name": job, "static_configs": [{"targets": [at]}]} for job, at in targets.items()]
    configuration = {"global": {"scrape_interval": "1s"}, "scrape_configs": jobs}
    (folder / "prometheus.yml").write_text(json.dumps(configuration))  # JSON is valid YAML.
    process = await asyncio.create_subprocess_exec(
        program,
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address=127.0.0.1:{port}",
        stdout=DEVNULL,
        stderr=STDOUT,
    )
    try:
        async with ClientSession(f"http://127.0.0.1:{port}") as http:
            api = Asked(http)
            await wait_until("Prometheus is ready", api.ready, within_s=30)
            yield api
    finally:
        process.terminate()
        await process.wait()


class Asked:
    def __init__(self, http: ClientSession) -> None:
        self._http = http

    async def ready(self) -> bool:
        try:
            async with self._http.get("/-/ready") as response:
                return response.status == 200
        except ClientError:
            return False

    async def __call__(self, query: str) -> list[object]:
        """Return the current result of a query."""
        async with self._http.get("/api/v1/query", params={"query": query}) as response:
            answer = await response.json()
        assert answer["status"] == "success", (query, answer)
        result: list[object] = answer["data"]["result"]
        return result
