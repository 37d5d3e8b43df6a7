"""A decoder that has been taken over by a hostile file cannot reach anything outside its sandbox.

Each sandbox layer is tested on its own, and all layers are tested together.
"""

import asyncio
import os
import platform
import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from svc.base import sandbox as sandbox_module
from svc.base import system_calls
from svc.base.sandbox import Limits, Refused, Sandbox
from svc.base.sandbox_layers import landlock_version
from svc.base.sandbox_protocol import Layer
from tests.kit import hostile_decoder as hostile
from tests.kit.sandboxes import starting

NOBODY = 65_534
# The limits are those for videos. Threads are allowed, which is the harder case, and each job must exit after
# its response.
LIMITS = Limits(256_000_000, deadline_s=20, cpu_s=20, result_bytes=10_000, file_bytes=1, threads=True)
USERS = {"root": 0, "an ordinary user": NOBODY}
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}

pytestmark = pytest.mark.skipif(platform.system() != "Linux", reason="only Linux has these layers")


@pytest.fixture(params=USERS)
def user(request: pytest.FixtureRequest) -> int:
    user = USERS[request.param]
    if os.geteuid() == 0:
        return user
    if user == 0:
        pytest.skip("only root can start a sandbox as root")
    return os.geteuid()


@asynccontextmanager
async def confined_by(
    layers: Collection[Layer], user: int, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Sandbox]:
    """Start a sandbox with the hostile decoder. Skip the test if this machine does not allow one of the
    layers.
    """
    started = starting(layers, None if user == os.geteuid() else user)
    monkeypatch.setattr(sandbox_module, "_start_zygote", started)
    async with Sandbox("tests.kit.hostile_decoder", at_once=1, broken="broken") as sandbox:
        await sandbox.call("make_a_thread", {}, [], LIMITS)
        missing = set(layers) - (sandbox.layers or set())
        if user != 0 and len(layers) > 1:
            missing.discard(Layer.USER)  # This user keeps its id and loses only its privileges.
        if missing:
            pytest.skip(f"this machine refuses {', '.join(missing)}")
        yield sandbox


async def outcomes(sandbox: Sandbox, names: Collection[str], user: int) -> Mapping[str, str]:
    """Run each attack. Return the outcomes by attack: the name of the error, or "done"."""
    results = {}
    for name in names:
        with target_of(user) as target:
            arguments = {"name": name, "target": asdict(target)}
            try:
                result = await sandbox.call("attempt", arguments, [], LIMITS)
                results[name] = str(result.facts["outcome"])
            except Refused as refused:
                # A program that replaced the decoder would exit without an error.
                results[name] = "done" if refused.detail.endswith("status 0") else refused.detail
    return results


@contextmanager
def target_of(user: int) -> Iterator[hostile.Target]:
    """Create a server's folder, its sockets and a process, all owned by this user."""
    with ExitStack() as stack:
        # Other users cannot open pytest's own temporary folder.
        folder = Path(tempfile.mkdtemp())
        stack.callback(shutil.rmtree, folder)
        secret, media = folder / "secrets.json", folder / "media"
        secret.write_text('{"jwt": "what makes tokens"}')
        (media / "empty").mkdir(parents=True)
        (media / "link").symlink_to(secret)
        listening, tcp, abstract = (
            stack.enter_context(socket.socket(family))
            for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_UNIX)
        )
        listening.bind(str(folder / "control"))
        tcp.bind(("127.0.0.1", 0))
        abstract.bind("")
        for server in (listening, tcp, abstract):
            server.listen()
        if user != os.geteuid():
            for path in (folder, secret, media, media / "empty", folder / "control"):
                os.chown(path, user, user)
            victim = subprocess.Popen(("sleep", "60"), user=user, group=user, extra_groups=())
        else:
            victim = subprocess.Popen(("sleep", "60"))
        stack.callback(victim.wait)
        stack.callback(victim.kill)
        yield hostile.Target(
            secret=str(secret),
            media=str(media),
            listening=str(folder / "control"),
            tcp_port=tcp.getsockname()[1],
            abstract=abstract.getsockname()[1:].decode(),
            victim=victim.pid,
        )


def possible_for(user: int) -> list[str]:
    """Return the attacks that can succeed for this user outside a sandbox."""
    return [name for name in hostile.ATTEMPTS if user == 0 or name not in hostile.AS_ROOT]


OPENED = {"read the secret", "read it by openat2", "write into it", "make a file", "list a folder"}
MADE_BY_LANDLOCK_3, BY_LANDLOCK_4 = {"cut it off"}, {"connect to a TCP port"}
BY_LANDLOCK_6 = {"connect to an abstract socket", "signal a process", "signal the zygote"}


def stopped_by(layer: Layer, user: int) -> set[str]:
    stopped = {
        Layer.NAMESPACES: {*hostile.NETWORK, *hostile.PROCESSES},
        Layer.ROOT: {
            *hostile.BY_PATH,
            *("make a device", "change the root", "mount a file system", "give a file away"),
        },
        Layer.USER: {*hostile.BY_PATH, *hostile.PROCESSES, *hostile.AS_ROOT} - {"run a program"},
        Layer.DESCRIPTORS: {
            *(OPENED | set(hostile.NETWORK) | set(hostile.DESCRIPTORS)),
            *("watch it", "connect to a socket by its path", "bind a socket to a path"),
        },
        Layer.LANDLOCK: {
            *(set(hostile.BY_PATH) - hostile.ONLY_LOOKED_AT | BY_LANDLOCK_4 | BY_LANDLOCK_6),
            *("attach to a process", "read a process's memory", "make a device", "mount a file system"),
        },
        Layer.SECCOMP: {*hostile.ATTEMPTS},
    }[layer]
    if layer is Layer.LANDLOCK:
        late = {3: MADE_BY_LANDLOCK_3, 4: BY_LANDLOCK_4, 6: BY_LANDLOCK_6}
        stopped -= {name for since, names in late.items() if landlock_version() < since for name in names}
    return stopped & set(possible_for(user))


async def test_without_the_sandbox_layers_every_attack_succeeds(
    user: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the attacks are effective. In a container or a chroot, some of them fail for every user."""
    async with confined_by([], user, monkeypatch) as sandbox:
        results = await outcomes(sandbox, possible_for(user), user)
    refused = {name: outcome for name, outcome in results.items() if outcome != "done"}
    if makes_user_namespaces():
        assert refused == {}
    assert set(refused) & set(hostile.BY_PATH) == set()
    assert set(refused.values()) <= {"EPERM", "EACCES", "ENOSYS"}


def makes_user_namespaces() -> bool:
    """Return whether programs may create a user namespace on this machine."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return False
    return subprocess.run((unshare, "--user", "true"), check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize("layer", Layer)
async def test_each_sandbox_layer_on_its_own_stops_its_attacks(
    layer: Layer, user: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with confined_by([layer], user, monkeypatch) as sandbox:
        results = await outcomes(sandbox, sorted(stopped_by(layer, user)), user)
    assert [name for name, outcome in results.items() if outcome == "done"] == []
    if layer is Layer.SECCOMP:
        assert set(results.values()) == {"ENOSYS"}


async def test_all_sandbox_layers_together_stop_every_attack(
    user: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with confined_by(set(Layer), user, monkeypatch) as sandbox:
        results = await outcomes(sandbox, list(hostile.ATTEMPTS), user)
    assert set(results.values()) == {"ENOSYS"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change the root without namespaces")
async def test_a_sandbox_run_by_root_has_an_empty_root_even_without_namespaces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        sandbox_module, "_start_zygote", starting([Layer.ROOT, Layer.USER], refused=["unshare"])
    )
    async with Sandbox("tests.kit.hostile_decoder", at_once=1, broken="broken") as sandbox:
        results = await outcomes(sandbox, sorted(stopped_by(Layer.ROOT, 0)), 0)
        assert sandbox.layers == frozenset({Layer.ROOT, Layer.USER})
    assert set(results.values()) <= {"ENOENT", "EACCES", "EPERM"}


@pytest.mark.parametrize("layer", [Layer.ROOT, Layer.LANDLOCK, Layer.SECCOMP])
async def test_a_decoder_cannot_link_a_secret_into_the_media_store(
    layer: Layer, user: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Anyone who has the secret could forge the owner's token.
    async with confined_by([layer, Layer.DESCRIPTORS], user, monkeypatch) as sandbox:
        with target_of(user) as target:
            for name in ("link the secret into the media", "rename the secret into the media"):
                arguments = {"name": name, "target": asdict(target)}
                result = await sandbox.call("attempt", arguments, [], LIMITS)
                assert result.facts["outcome"] != "done"
            assert in_folder(target.media) == {"empty", "link"}


async def test_the_filter_covers_every_system_call(user: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async with confined_by([Layer.SECCOMP], user, monkeypatch) as sandbox:
        assert (await sandbox.call("sweep", {}, [], LIMITS)).facts == {"reached": {}}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86-64 has other entries")
@pytest.mark.parametrize("entry", ["call_as_32_bit", "call_as_x32"])
async def test_a_system_call_for_another_architecture_kills_the_child(
    entry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with confined_by([Layer.SECCOMP], os.geteuid(), monkeypatch) as sandbox:
        with pytest.raises(Refused) as caught:
            await sandbox.call(entry, {}, [], LIMITS)
    # SIGSYS, or SIGSEGV if the kernel has been built without that entry point.
    assert caught.value.detail.endswith(("status -31", "status -11"))


async def test_threads_can_be_started_only_where_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    async with confined_by([Layer.SECCOMP], os.geteuid(), monkeypatch) as sandbox:
        with pytest.raises(Refused, match="damaged") as caught:
            await sandbox.call("make_a_thread", {}, [], replace(LIMITS, threads=False))
    assert caught.value.detail == "RuntimeError: can't start new thread"


async def test_the_child_has_no_capabilities_and_cannot_gain_any(
    user: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with confined_by(set(Layer), user, monkeypatch) as sandbox:
        confined = asyncio.Event()
        call = sandbox.call("sleep", {}, [], LIMITS, lambda _: confined.set())
        task = asyncio.create_task(call)
        async with asyncio.timeout(20):
            await confined.wait()
        assert sandbox._process is not None
        status = status_of(descendants(sandbox._process.pid)[-1])
        task.cancel()
    assert {int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
    assert (status["NoNewPrivs"], status["Seccomp"], status["Groups"]) == ("1", "2", "")
    uids = {int(uid) for uid in status["Uid"].split()}
    assert len(uids) == 1
    assert uids == {user} if user else min(uids) > NOBODY


def in_folder(path: str) -> set[str]:
    return {entry.name for entry in Path(path).iterdir()}


def status_of(pid: int) -> Mapping[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def descendants(pid: int) -> list[int]:
    """Return the zygote and its jobs, oldest first."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [descendant for child in map(int, children) for descendant in (child, *descendants(child))]


@pytest.mark.parametrize("machine", HEADERS)
def test_the_system_call_numbers_match_the_kernel(machine: str) -> None:
    if not HEADERS[machine].exists():
        pytest.skip(f"{HEADERS[machine]} is not installed")
    text = HEADERS[machine].read_text()
    defined = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text)
    numbers = {name: int(number) for name, number in defined}
    calls = {**system_calls.CALLS, "clone": system_calls.CLONE}
    assert {name: getattr(call, machine) for name, call in calls.items()} == {
        name: numbers[name] for name in calls
    }
