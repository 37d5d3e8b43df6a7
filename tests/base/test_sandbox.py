"""Code in the sandbox can do nothing but compute, and its failures do not affect the caller."""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from svc.base import sandbox as sandbox_module
from svc.base.sandbox import Limits, Refused, Result, Sandbox, SandboxFailed, as_file
from svc.base.sandbox_protocol import Layer
from tests.kit.sandboxes import starting
from tests.kit.wait import eventually

MEGABYTE = 1_000_000
LIMITS = Limits(memory_bytes=64 * MEGABYTE, deadline_s=20, cpu_s=20, result_bytes=MEGABYTE)
SHORT = replace(LIMITS, deadline_s=0.3)


@pytest.fixture
async def sandbox(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Sandbox]:
    monkeypatch.setattr(sandbox_module, "_start_zygote", starting())
    async with Sandbox("tests.kit.faulty_jobs", at_once=2, broken="broken") as sandbox:
        yield sandbox


async def call(
    sandbox: Sandbox, function: str, limits: Limits = LIMITS, **arguments: object
) -> Mapping[str, object]:
    return (await sandbox.call(function, arguments, [], limits)).facts


async def refusal(sandbox: Sandbox, function: str, limits: Limits = LIMITS, **arguments: object) -> Refused:
    with pytest.raises(Refused) as caught:
        await sandbox.call(function, arguments, [], limits)
    return caught.value


async def test_a_function_is_called_with_arguments_and_files(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("from a path")
    reports: list[float] = []
    async with as_file(tmp_path / "file") as first, as_file(b"from bytes") as second:
        result = await sandbox.call("echo", {"one": 1}, [first, second], LIMITS, reports.append)
    facts = {"arguments": {"one": 1}, "read": ["from a path", "from bytes"]}
    assert result == Result(facts, [b"aaa", b""])
    assert reports == [0.5]


async def test_a_child_has_no_environment_and_a_lower_priority(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check only these two restrictions. `tests/attacks/test_decoder.py` tests all others."""
    monkeypatch.setattr("svc.base.sandbox.NICENESS", 15)
    # Python itself sets the locale.
    assert (await call(sandbox, "process_state"))["environment"] in ({}, {"LC_CTYPE": "C.UTF-8"})
    await eventually("the first job has ended", lambda: not jobs(sandbox), within_s=20)
    task = asyncio.create_task(call(sandbox, "sleep"))
    await eventually("the child is running", lambda: len(jobs(sandbox)) == 1, within_s=20)
    assert os.getpriority(os.PRIO_PROCESS, jobs(sandbox)[0]) == min(os.nice(0) + 15, 19)
    task.cancel()


async def test_the_active_layers_are_known_once_a_job_has_started(
    sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    assert sandbox.layers is None
    with caplog.at_level(logging.INFO):
        for _ in range(2):
            await call(sandbox, "allocate", size=1)
    assert Layer.DESCRIPTORS in (sandbox.layers or ())
    (line,) = [record for record in caplog.records if record.message == "decoder confined"]
    words = f"{vars(line)['layers']} {vars(line)['missing']}".split()
    assert sorted(words) == sorted(Layer)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these layers")
async def test_the_sandbox_works_where_only_the_limit_on_descriptors_is_available(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refused = ("unshare", "chroot", "setresuid", "landlock_create_ruleset", "prctl")
    monkeypatch.setattr(sandbox_module, "_start_zygote", starting(refused=refused))
    async with Sandbox("tests.kit.faulty_jobs", at_once=1, broken="broken") as sandbox:
        assert await call(sandbox, "allocate", size=1) == {"length": 1}
        assert sandbox.layers == frozenset({Layer.DESCRIPTORS})


async def test_allocating_memory_beyond_the_limit_is_an_error(sandbox: Sandbox) -> None:
    assert await call(sandbox, "allocate", size=10 * MEGABYTE) == {"length": 10 * MEGABYTE}
    assert (await refusal(sandbox, "allocate", size=200 * MEGABYTE)).code == "too_large"


async def test_no_file_grows_beyond_the_limit(sandbox: Sandbox, tmp_path: Path) -> None:
    limits = replace(LIMITS, file_bytes=10_000)
    with (tmp_path / "out").open("wb") as file:
        result = await sandbox.call("write", {"size": 20_000}, [file.fileno()], limits)
    assert result.facts == {"error": "File too large"}
    assert (tmp_path / "out").stat().st_size == 10_000


async def test_a_file_cannot_be_written_after_the_response(sandbox: Sandbox, tmp_path: Path) -> None:
    with (tmp_path / "out").open("w+b") as file:
        await sandbox.call("linger", {}, [file.fileno()], replace(LIMITS, file_bytes=100))
    assert jobs(sandbox) == []


@pytest.mark.parametrize("function", ["spin", "sleep"])
async def test_a_slow_child_is_killed(sandbox: Sandbox, function: str) -> None:
    assert (await refusal(sandbox, function, SHORT)).code == "timeout"
    assert jobs(sandbox) == []


async def test_cpu_time_is_limited_separately(sandbox: Sandbox) -> None:
    assert (await refusal(sandbox, "spin", replace(LIMITS, cpu_s=1))).code == "timeout"


@pytest.mark.parametrize("at_once", [True, False])
async def test_an_input_is_not_rejected_if_the_system_killed_the_child(
    sandbox: Sandbox, at_once: bool
) -> None:
    # When memory runs out, the kernel kills this child first.
    task = asyncio.create_task(call(sandbox, "sleep"))
    await eventually("the child is running", lambda: len(jobs(sandbox)) == 1, within_s=20)
    if not at_once:
        await eventually(
            "the child has received its request", lambda: sandbox.layers is not None, within_s=20
        )
    os.kill(jobs(sandbox)[0], 9)
    with pytest.raises(SandboxFailed, match="possibly because memory ran out"):
        await task


@pytest.mark.parametrize(
    ("function", "detail"),
    [
        ("die", "exited before it had finished; status -11"),
        ("raise_", "KeyError: 'strange'"),
        ("leave", "exited before it had finished; status 0"),
        ("talk", "sent more data than allowed; status -9"),
    ],
)
async def test_an_input_that_crashes_its_child_is_rejected(
    sandbox: Sandbox, function: str, detail: str
) -> None:
    refused = await refusal(sandbox, function)
    assert (refused.code, refused.detail) == ("broken", detail)
    assert await call(sandbox, "allocate", size=1) == {"length": 1}


async def test_a_function_can_reject_its_input_with_a_reason(sandbox: Sandbox) -> None:
    refused = await refusal(sandbox, "reject")
    assert (refused.code, str(refused)) == ("too_ugly", "Nobody wants to see this")


@pytest.mark.parametrize(
    "message",
    [
        b"\xff\xff\xff\xff",
        b"\0\0\0\2{]",
        b"\0\0\0\2[]",
        b"\0\0\0\2{}",
        b'\0\0\0\x28{"facts": {}, "blobs": [-1], "used": {}}',
        b'\0\0\0\x29{"facts": {}, "blobs": ["x"], "used": {}}',
        b'\0\0\0\x2d{"facts": {}, "blobs": [9999999], "used": {}}',
        b'\0\0\0\x0e{"progress": 9}' + b"\0\0\0\x02[]",
        b"\0\0\0\3\xff\xff\xff",
    ],
)
async def test_an_invalid_message_from_a_child_causes_its_input_to_be_rejected(
    sandbox: Sandbox, message: bytes
) -> None:
    assert (await refusal(sandbox, "lie", hex=message.hex())).code == "broken"


async def test_a_cancelled_caller_kills_its_child(sandbox: Sandbox) -> None:
    task = asyncio.create_task(call(sandbox, "sleep"))
    await eventually("the child is running", lambda: len(jobs(sandbox)) == 1, within_s=20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually("the child has exited", lambda: jobs(sandbox) == [], within_s=20)


async def test_the_number_of_concurrent_children_is_limited(sandbox: Sandbox) -> None:
    tasks = [asyncio.create_task(refusal(sandbox, "sleep", SHORT)) for _ in range(5)]
    seen = []
    while not all(task.done() for task in tasks):
        seen.append(len(jobs(sandbox)))
        await asyncio.sleep(0.01)
    assert max(seen) == 2


async def test_a_dead_zygote_is_replaced_without_failing_a_job(sandbox: Sandbox) -> None:
    first = asyncio.create_task(call(sandbox, "sleep"))
    await eventually("the child is running", lambda: len(jobs(sandbox)) == 1, within_s=20)
    processes = family(sandbox)
    os.kill(zygote(sandbox), 9)
    with pytest.raises(SandboxFailed):
        await first
    assert await call(sandbox, "allocate", size=1) == {"length": 1}
    await eventually("all children have exited", lambda: not any(map(is_running, processes)), within_s=20)


async def test_closing_leaves_no_process_behind(sandbox: Sandbox) -> None:
    task = asyncio.create_task(call(sandbox, "sleep"))
    await eventually("the child is running", lambda: len(jobs(sandbox)) == 1, within_s=20)
    processes = family(sandbox)
    await sandbox.close()
    with pytest.raises(SandboxFailed):
        await task
    await eventually("all children have exited", lambda: not any(map(is_running, processes)), within_s=20)


def family(sandbox: Sandbox) -> list[int]:
    """Return all processes of the sandbox, beginning with the first."""
    process = sandbox._process
    if process is None:
        return []
    pids = [process.pid]
    for pid in pids:
        pids += _children(pid)
    return pids


def is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def zygote(sandbox: Sandbox) -> int:
    """Return the process that forks the children.

    With namespaces, it is the only child of the sandbox's first process.
    """
    assert sandbox._process is not None
    inner = _children(sandbox._process.pid)
    return inner[0] if inner and _children(inner[0]) else sandbox._process.pid


def jobs(sandbox: Sandbox) -> list[int]:
    """Return the children that are running jobs."""
    return [pid for pid in family(sandbox) if _session(pid) == pid and pid != family(sandbox)[0]]


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return 0
