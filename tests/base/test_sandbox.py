"""What runs in the sandbox can calculate and nothing else, and what goes wrong there stays there."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from svc.base import sandbox as sandbox_module
from svc.base.sandbox import Limits, Refused, Result, Sandbox, SandboxFailed, as_file
from tests.kit.waiting import eventually

REPOSITORY = Path(__file__).parents[2]
MEGABYTE = 1_000_000
LIMITS = Limits(memory_bytes=64 * MEGABYTE, deadline_s=20, cpu_s=20, result_bytes=MEGABYTE)
SHORT = replace(LIMITS, deadline_s=0.3)


def _started(control: int, module: str) -> subprocess.Popen[bytes]:
    """As the sandbox starts it, and able to find the tests' functions."""
    code = f"import sys; sys.path.append({str(REPOSITORY)!r}); from svc.base.zygote import main; main()"
    command = (sys.executable, "-I", "-c", code, str(control), module)
    return subprocess.Popen(
        command, env={}, stdin=subprocess.DEVNULL, pass_fds=(control,), start_new_session=True
    )


@pytest.fixture
async def sandbox(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Sandbox]:
    monkeypatch.setattr(sandbox_module, "_started", _started)
    async with Sandbox("tests.kit.misbehaving", at_once=2, broken="broken") as sandbox:
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
    said: list[float] = []
    async with as_file(tmp_path / "file") as first, as_file(b"from bytes") as second:
        result = await sandbox.call("echo", {"one": 1}, [first, second], LIMITS, said.append)
    facts = {"arguments": {"one": 1}, "read": ["from a path", "from bytes"]}
    assert result == Result(facts, [b"aaa", b""])
    assert said == [0.5]


async def test_it_has_no_environment_no_files_no_network_and_no_processes(sandbox: Sandbox) -> None:
    seen = await call(sandbox, "surroundings", caller=os.getpid())
    tried = seen["tried"]
    assert isinstance(tried, dict)
    # Root's processes cannot be counted; everybody else's can.
    assert tried.pop("start a process") == ("BlockingIOError" if os.geteuid() else "done")
    # In a process namespace of its own, the number means nobody.
    assert tried.pop("signal the caller") in ("ProcessLookupError", "PermissionError", "done")
    assert tried == {"open a file": "OSError", "make a socket": "OSError", "make a pipe": "OSError"}
    # Python itself sets the locale.
    assert seen["environment"] in ({}, {"LC_CTYPE": "C.UTF-8"})
    assert seen["nice"] == min(os.nice(0) + 15, 19)


async def test_it_is_in_namespaces_of_its_own_where_the_system_allows_it(sandbox: Sandbox) -> None:
    if not _namespaces_are_allowed():
        pytest.skip("this system allows no user namespaces")
    seen = await call(sandbox, "surroundings", caller=os.getpid())
    assert isinstance(seen["tried"], dict)
    assert seen["tried"]["signal the caller"] == "ProcessLookupError"


def _namespaces_are_allowed() -> bool:
    return subprocess.run(("unshare", "-Urnp", "true"), check=False).returncode == 0


async def test_memory_beyond_the_limit_is_refused(sandbox: Sandbox) -> None:
    assert await call(sandbox, "allocate", size=10 * MEGABYTE) == {"length": 10 * MEGABYTE}
    assert (await refusal(sandbox, "allocate", size=200 * MEGABYTE)).code == "too_large"


async def test_no_file_grows_beyond_the_limit(sandbox: Sandbox, tmp_path: Path) -> None:
    limits = replace(LIMITS, file_bytes=10_000)
    with (tmp_path / "out").open("wb") as file:
        result = await sandbox.call("write", {"size": 20_000}, [file.fileno()], limits)
    assert result.facts == {"error": "File too large"}
    assert (tmp_path / "out").stat().st_size == 10_000


@pytest.mark.parametrize("function", ["spin", "sleep"])
async def test_what_takes_too_long_is_killed(sandbox: Sandbox, function: str) -> None:
    assert (await refusal(sandbox, function, SHORT)).code == "timeout"
    assert jobs(sandbox) == []


async def test_processor_time_is_limited_by_itself(sandbox: Sandbox) -> None:
    assert (await refusal(sandbox, "spin", replace(LIMITS, cpu_s=1))).code == "timeout"


async def test_a_child_that_the_system_kills_is_nobodys_fault(sandbox: Sandbox) -> None:
    """As it does when memory runs out, with this child before all others."""
    with pytest.raises(SandboxFailed, match="for want of memory perhaps"):
        await call(sandbox, "be_killed")


@pytest.mark.parametrize(
    ("function", "detail"),
    [
        ("die", "ended before it was done; status -11"),
        ("raise_", "KeyError: 'strange'"),
        ("leave", "ended before it was done; status 0"),
        ("talk", "says more than it may; status -9"),
    ],
)
async def test_a_child_that_breaks_is_a_refusal_of_its_input(
    sandbox: Sandbox, function: str, detail: str
) -> None:
    refused = await refusal(sandbox, function)
    assert (refused.code, refused.detail) == ("broken", detail)
    assert await call(sandbox, "allocate", size=1) == {"length": 1}


async def test_a_function_says_itself_why_it_refuses(sandbox: Sandbox) -> None:
    refused = await refusal(sandbox, "reject")
    assert (refused.code, str(refused)) == ("too_ugly", "Nobody wants to see this")


@pytest.mark.parametrize(
    "said",
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
async def test_what_is_no_message_is_a_refusal(sandbox: Sandbox, said: bytes) -> None:
    assert (await refusal(sandbox, "lie", hex=said.hex())).code == "broken"


async def test_a_caller_that_goes_takes_the_child_along(sandbox: Sandbox) -> None:
    task = asyncio.create_task(call(sandbox, "sleep"))
    await eventually("it runs", lambda: len(jobs(sandbox)) == 1, within_s=20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually("it is gone", lambda: jobs(sandbox) == [], within_s=20)


async def test_no_more_run_at_once_than_wanted(sandbox: Sandbox) -> None:
    tasks = [asyncio.create_task(refusal(sandbox, "sleep", SHORT)) for _ in range(5)]
    seen = []
    while not all(task.done() for task in tasks):
        seen.append(len(jobs(sandbox)))
        await asyncio.sleep(0.01)
    assert max(seen) == 2


async def test_when_the_zygote_dies_it_is_nobodys_fault_and_another_is_started(sandbox: Sandbox) -> None:
    first = asyncio.create_task(call(sandbox, "sleep"))
    await eventually("it runs", lambda: len(jobs(sandbox)) == 1, within_s=20)
    processes = family(sandbox)
    os.kill(zygote(sandbox), 9)
    with pytest.raises(SandboxFailed):
        await first
    assert await call(sandbox, "allocate", size=1) == {"length": 1}
    await eventually("all are gone", lambda: not any(map(runs, processes)), within_s=20)


async def test_closing_leaves_no_process_behind(sandbox: Sandbox) -> None:
    task = asyncio.create_task(call(sandbox, "sleep"))
    await eventually("it runs", lambda: len(jobs(sandbox)) == 1, within_s=20)
    processes = family(sandbox)
    await sandbox.close()
    with pytest.raises(SandboxFailed):
        await task
    await eventually("all are gone", lambda: not any(map(runs, processes)), within_s=20)


def family(sandbox: Sandbox) -> list[int]:
    """Every process of the sandbox, the started one first."""
    process = sandbox._process
    if process is None:
        return []
    found = [process.pid]
    for pid in found:
        found += _children(pid)
    return found


def runs(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def zygote(sandbox: Sandbox) -> int:
    """The one that forks: where there are namespaces, the only child of the one that was started."""
    assert sandbox._process is not None
    inner = _children(sandbox._process.pid)
    return inner[0] if inner and _children(inner[0]) else sandbox._process.pid


def jobs(sandbox: Sandbox) -> list[int]:
    """The children that run now."""
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
