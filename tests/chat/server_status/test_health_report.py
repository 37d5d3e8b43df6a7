"""Only the owner can read the health report, which lists checks and connected members.

The report contains no secrets.
"""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from svc.base.machine import Machine
from svc.chat import config
from svc.chat.server_status.health_report import BACKUP_AFTER_MS, HealthReport, Sources
from svc.tools.doctor import machine as doctor
from tests.chat.members_by_role import MembersByRole, member_with

HEALTH = "/api/health"


async def checks(members: MembersByRole) -> dict[str, tuple[str, str]]:
    entries = (await members.owner.done("GET", HEALTH))["checks"]
    return {check["check"]: (check["verdict"], check["state"]) for check in entries}


async def test_a_healthy_server_reports_its_checks_and_notices(members: MembersByRole) -> None:
    by_name = await checks(members)
    assert by_name == {
        "database": ("ok", "sound"),
        # The results of these checks depend on the machine that runs the test.
        **{name: by_name[name] for name in ("disk", "clock", "files", "buffers")},
        "joining": ("ok", "possible"),
        "address": ("notice", "only_here"),
        "voice": ("ok", "connected"),
        "uploads": ("notice", "no_worker"),
        "backups": ("notice", "none"),
    }


async def test_the_report_lists_connected_members_and_their_clients(members: MembersByRole) -> None:
    async with members.live("member", "owner"), members.live("member"):
        response = await members.owner.done("GET", HEALTH)
    pages = {entry["member_id"]: entry["pages"] for entry in response["connected"]}
    assert pages == {members.member.id: 2, members.owner.id: 1}
    assert (response["connected_members"], response["in_calls"]) == (2, 0)
    assert response["started_at_ms"] <= time.time() * 1000
    assert set(response["versions"]) == {"server", "python", "sqlite"}


async def test_only_the_owner_can_read_the_report_and_it_contains_no_secrets(
    members: MembersByRole, variables: dict[str, str]
) -> None:
    keeper = await member_with(members, "manage_channels", "manage_roles", "view_audit_log")
    for person in (members.admin, members.moderator, members.member, keeper):
        assert await person.refused("GET", HEALTH) == "forbidden"
    text = json.dumps(await members.owner.done("GET", HEALTH))
    for name in ("JWT_SECRET", "SERVER_PASSWORD", "DATA_DIR", "SFU_WS_HOST"):
        assert variables[name] not in text


async def test_the_report_shows_the_age_of_the_newest_backup(
    members: MembersByRole, variables: dict[str, str]
) -> None:
    folder, now_ms = Path(variables["DATA_DIR"]) / "backups", int(time.time() * 1000)
    folder.mkdir(exist_ok=True)
    (folder / f"backup-{now_ms - BACKUP_AFTER_MS - 1000}.tar.gz").touch()
    assert (await checks(members))["backups"] == ("notice", "old")
    (folder / f"backup-{now_ms}.tar.gz").touch()
    assert (await checks(members))["backups"] == ("ok", "recent")


GOOD = Machine(clock_kept=True, files=65_536, buffers={"net.core.rmem_max": 4 << 20})
SMALL = {"net.core.rmem_max": 212_992}


class Here:
    """A fake media service link, upload queue and database, whose states the test chooses."""

    def __init__(self, *, works: bool = True, linked: bool = True, worker: bool = True, waiting: int = 0):
        self.synchronised, self.worker_up, self.waiting = linked, worker, waiting
        self.faults: list[str] = []
        self._works = works

    async def works(self) -> bool:
        return self._works


async def checks_of(
    variables: dict[str, str],
    here: Here,
    *,
    secure: bool = False,
    enabled: bool = True,
    machine: Machine = GOOD,
) -> dict[str, tuple[str, str]]:
    sources = Sources(
        here.works,
        Path(variables["DATA_DIR"]),
        here,
        enabled,
        lambda: here.waiting,
        lambda: here.worker_up,
        list,
        dict,
        lambda: 0,
        secure,
        lambda: machine,
    )
    condition = await HealthReport(config.read(variables), sources, "1", 0).condition(0.0)
    return {check.check: (check.verdict, check.state) for check in condition.checks}


@pytest.mark.parametrize(
    ("check", "here", "expected"),
    [
        ("database", Here(works=False), ("problem", "not_kept")),
        ("voice", Here(linked=False), ("problem", "unreachable")),
        ("uploads", Here(worker=False, waiting=2), ("problem", "no_worker")),
        ("uploads", Here(), ("ok", "working")),
    ],
)
async def test_the_report_names_a_failing_component(
    variables: dict[str, str], check: str, here: Here, expected: tuple[str, str]
) -> None:
    assert (await checks_of(variables, here))[check] == expected


@pytest.mark.parametrize(
    ("settings", "secure", "expected"),
    [
        ({"HOST": "127.0.0.1"}, True, ("notice", "only_here")),
        ({"HOST": "0.0.0.0"}, False, ("problem", "insecure")),
        ({"HOST": "0.0.0.0"}, True, ("ok", "reachable")),
        ({"HOST": "127.0.0.1", "SVC_TRUSTED_PROXY_HOPS": "1"}, False, ("ok", "reachable")),
    ],
)
async def test_the_report_names_an_address_that_others_cannot_reach(
    variables: dict[str, str], settings: dict[str, str], secure: bool, expected: tuple[str, str]
) -> None:
    assert (await checks_of({**variables, **settings}, Here(), secure=secure))["address"] == expected


@pytest.mark.parametrize(
    ("check", "machine", "expected"),
    [
        ("clock", GOOD, ("ok", "kept")),
        ("clock", replace(GOOD, clock_kept=None), ("ok", "unknown")),
        ("clock", replace(GOOD, clock_kept=False), ("notice", "adrift")),
        ("files", GOOD, ("ok", "ample")),
        ("files", replace(GOOD, files=1024), ("notice", "few")),
        ("buffers", GOOD, ("ok", "ample")),
        ("buffers", replace(GOOD, buffers=SMALL), ("notice", "small")),
    ],
)
async def test_the_report_names_missing_system_resources(
    variables: dict[str, str], check: str, machine: Machine, expected: tuple[str, str]
) -> None:
    """Check that the report and `svc doctor` agree."""
    assert (await checks_of(variables, Here(), machine=machine))[check] == expected
    assert {finding.verdict.value for finding in doctor.findings(machine)} - {"ok"} == {expected[0]} - {"ok"}


async def test_a_missing_optional_component_is_reported_as_a_notice(variables: dict[str, str]) -> None:
    by_name = await checks_of({**variables, "SFU_WS_HOST": ""}, Here(), enabled=False)
    assert (by_name["voice"], by_name["uploads"]) == (("notice", "none"), ("notice", "off"))
