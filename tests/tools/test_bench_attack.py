"""Each attack in `svc bench attack` completes against a real installation without harming honest members."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from svc.chat.webhooks.limits import BURST, SHARED_BURST_BYTES
from svc.tools.bench import cores
from svc.tools.bench.attack.catalogue import ATTACKS
from svc.tools.bench.attack.expensive_bodies import _webhook_bodies, with_expensive_bodies
from svc.tools.bench.attack.honest_members import Noticed
from svc.tools.bench.attack.installation import create_members, own_installation, prepare, with_accounts
from svc.tools.bench.attack.report import Row, heading, line
from svc.tools.bench.attack.target import Target, check_address
from svc.tools.bench.errors import BenchError
from tests.chat.chat_server import ChatServer, chat_server
from tests.tools.test_bench_chat import bench

SHORT = ("--members", "4", "--rate", "8", "--seconds", "1")


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[ChatServer]:
    variables = {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(tmp_path / "data"),
        "ADDITIONAL_CHANNELS": "general",
        "SVC_IDENTITY_TIERS": "local",
        "STORAGE_BACKEND": "filesystem",
    }
    async with chat_server(variables) as running:
        yield running


def turned_away(row: dict[str, Any]) -> dict[str, int]:
    """Return the members' rejected requests, except for searches that a busy machine cut short."""
    return {what: count for what, count in row["refused"].items() if what != "search: 400"}


@pytest.mark.nightly("a minute of attacks that tests/attacks runs one by one")
async def test_every_attack_runs_and_no_request_of_a_signed_in_member_is_rejected() -> None:
    code, output, errors = await bench("attack", *SHORT, "--json")
    assert (code, errors) == (0, "")
    rows: list[dict[str, Any]] = [json.loads(line) for line in output.splitlines()]
    # Without TLS, there are no handshakes, so none can be left unfinished.
    plain = [attack.name for attack in ATTACKS if attack.needs != "tls"]
    assert [row["attack"] for row in rows] == ["none", *plain, "all at once"]
    assert {row["attack"]: refused for row in rows if (refused := turned_away(row))} == {}
    # A busy machine may not complete a single search in the second that each attack takes in this test.
    assert sum(row["requests"] > 0 for row in rows) >= len(plain) - 1
    for row in rows:
        assert row["delivery"]["worst_ms"] >= row["delivery"]["p99_ms"] >= row["delivery"]["p50_ms"] > 0, row
        assert row["requests"] == 0 or row["attack"] != "none", row
        assert row["log_kb_per_minute"] is not None


def test_the_request_bodies_for_webhooks_stay_within_the_limit_for_a_single_webhook() -> None:
    # Otherwise, the last request would be rejected, and its endpoint would be missing from the attack.
    bodies = [body.encode() for by_name in _webhook_bodies().values() for body in by_name.values()]
    assert len(bodies) <= BURST
    assert sum(map(len, bodies)) <= SHARED_BURST_BYTES


async def test_the_most_expensive_body_for_each_endpoint_is_found_first() -> None:
    async with own_installation(tls=None) as installation:
        await prepare(installation)
        target = await with_accounts(installation.target, await create_members(installation, 1))
        target = await with_expensive_bodies(target, installation.tried, installation.pid)
    endpoints = [entry.partition(": ")[0] for entry in target.expensive]
    webhooks = [f"POST webhook{end}" for end in ("", "/discord", "/slack", "/github")]
    assert endpoints[:4] == webhooks
    assert {"POST /api/channels/{channel}/messages", "POST /api/auth/join"} <= set(endpoints)


def test_attackers_get_their_own_cores_if_there_are_at_least_three(monkeypatch: pytest.MonkeyPatch) -> None:
    for there_are, honest, attackers in (({0, 1, 2, 3}, {1}, {2, 3}), ({4, 6}, {6}, {6}), ({0}, {0}, {0})):
        monkeypatch.setattr(cores, "_all_cores", lambda there_are=there_are: there_are)
        assert (cores.honest(), cores.attackers()) == (honest, attackers)


async def test_with_the_together_flag_no_attack_runs_alone() -> None:
    attacks = ("malformed", "posting", "reading", "sign-ins", "unsigned")
    code, output, errors = await bench("attack", *SHORT, "--json", "--together", *attacks)
    assert (code, errors) == (0, "")
    assert [json.loads(line)["attack"] for line in output.splitlines()] == ["none", "all at once"]


@pytest.mark.nightly("half a minute for a flag of the bench")
async def test_a_named_instance_is_attacked_and_left_unchanged(chat: ChatServer) -> None:
    owner = await chat.join("Ada")
    code, output, errors = await bench(
        "attack", *SHORT, "--url", chat.address, "--invite", chat.invite, "unsigned"
    )
    assert (code, errors) == (0, "")
    table = [row.split(" | ") for row in output.splitlines() if row.startswith("| ")]
    assert [row[0] for row in table] == ["| Attack", "| none", "| `unsigned`"]
    async with chat.http.get("/api/members", headers={"Authorization": f"Bearer {owner}"}) as response:
        assert [member["nickname"] for member in (await response.json())["members"]] == ["Ada"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--url", "ftp://here"), "is not the address of a server"),
        (("--url", "http://127.0.0.1:1"), "Cannot connect"),
        (("--url", "http://192.0.9.1:80"), "has a public address"),
        (("--seconds", "31"), "at most 30 s"),
        (("nothing",), "There is no attack nothing"),
    ],
)
async def test_an_invalid_attack_is_reported_on_one_line(arguments: tuple[str, ...], words: str) -> None:
    code, output, errors = await bench("attack", "--members", "1", "--seconds", "0.1", "--json", *arguments)
    assert (code, output) == (2, "")
    assert words in errors
    assert len(errors.splitlines()) == 1


async def test_a_public_address_is_attacked_only_with_the_confirmation_of_its_owner() -> None:
    with pytest.raises(BenchError, match="public address"):
        await check_address("https://8.8.8.8", mine=False)
    assert await check_address("https://8.8.8.8", mine=True) == ("",)


async def test_attackers_use_many_loopback_addresses() -> None:
    sources = await check_address("http://127.0.0.1:5000", mine=False)
    assert len(set(sources)) > 10
    assert await check_address("http://[::1]:5000", mine=False) == ("",)


def test_each_table_row_has_a_cell_for_each_heading() -> None:
    noticed = Noticed(deliveries_s=[0.001] * 99 + [0.5], requests_s=[0.002], strangers_s=[0.003])
    noticed.refused["page: 503"] = 2
    did = {"idle": {"requests": 20, "held": 300, "answers": {"200": 20}}}
    row = Row.of("idle", 10, noticed, did, 1.25, None, (0.5, 0.125))
    assert heading().splitlines()[-2].count("|") == line(row).count("|")
    assert (
        line(row)
        == "| `idle` | 2/s, 300 held | 1 / 1 / 500 | 2 / 2 / 2 | 0 / 0 / 0 | 3 / 3 / 3 | 2 | 50% | +1 | – |"
    )
    assert row.remarks() == [
        "  idle: page: 503 (2 times)",
        "  idle: the server waited for its core for 12% of the time",
    ]


def test_target_secrets_are_not_printed() -> None:
    shown = repr(Target("http://here", tokens=("secret",), webhook="secret", media="secret"))
    assert "secret" not in shown
