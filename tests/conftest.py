"""Configures all tests: starts slow tests first, forks programs, and disables Hypothesis deadlines."""

import gc
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.kit.bytecode import compile_changed
from tests.kit.fork_server import forking
from tests.kit.object_stores import Stores

# Examples may take longer on a busy machine, so there is no deadline. Each run tries different examples.
settings.register_profile(
    "unhurried", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")

# Collecting the tests creates a million permanent objects, and garbage collection would take a fifth of the
# time. `pytest_collection_finish` enables it again.
gc.disable()

# Otherwise, every program that a test starts would compile all modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
HERE = Path(__file__).parent
CALLS, MEASURED = HERE / "browser" / "calls", HERE / "browser" / "measured"
# These tests start browsers or programs, or take more than a few seconds.
SLOW = [HERE / line for line in (HERE / "slow.txt").read_text().splitlines()]
# These start first, so that no worker waits for one of them at the end.
SLOWEST = {MEASURED / "test_narrow_downlink.py", MEASURED / "test_loss.py"}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip slow test files before importing them if slow tests are deselected, because importing a file takes
    as long as running many tests.
    """
    return True if "not slow" in config.option.markexpr and is_slow(collection_path) else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Start two workers per processor, because tests spend half of their time waiting for browsers, programs
    and networks.
    """
    return 2 * (os.cpu_count() or 1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Compile changed files once instead of in each worker."""
    if not sys.dont_write_bytecode:
        compile_changed(config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Distribute the tests to workers in the groups that `unit_of` returns."""
    # The plugin is missing if only the core is tested.
    from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

    scheduling = LoadFileScheduling(config, log)
    scheduling._split_scope = unit_of
    return scheduling


def unit_of(nodeid: str) -> str:
    """Return the name of the group that must run in one worker: the test's file, or a browser test's own id.

    A file of browser tests takes minutes. If it ran in one worker, the other workers would be idle at the
    end.
    """
    return nodeid if nodeid.startswith("tests/browser/") else nodeid.partition("::")[0]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run slow tests first, so that at the end no processor waits for a single long test."""
    for item in items:
        if is_slow(item.path):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: (not is_slow(item.path), item.path not in SLOWEST))
    if "PYTEST_XDIST_WORKER" in os.environ:
        items[:] = mixed(items)


def pytest_collection_finish() -> None:
    """Limit garbage collection to the objects that tests create, excluding those that modules create."""
    gc.collect()
    gc.freeze()
    gc.enable()


def mixed(items: list[pytest.Item]) -> list[pytest.Item]:
    """Distribute the call tests evenly among the slow tests.

    Call tests mostly wait for media, while other tests compute.
    """
    units: dict[str, list[pytest.Item]] = {}
    for item in items:
        units.setdefault(unit_of(item.nodeid), []).append(item)
    calls = [unit for unit in units.values() if unit[0].path.is_relative_to(CALLS)]
    slow = [unit for unit in units.values() if is_slow(unit[0].path) and unit not in calls]
    quick = [unit for unit in units.values() if not is_slow(unit[0].path)]
    spread = [(index / len(some), unit) for some in (calls, slow) for index, unit in enumerate(some)]
    spread.sort(key=lambda position: position[0])
    return [item for unit in [*(unit for _, unit in spread), *quick] for item in unit]


@cache  # Every worker calls this twice for each of ten thousand tests.
def is_slow(path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in SLOW)


@pytest.fixture(scope="session", autouse=True)
def prompt_decoders() -> Iterator[None]:
    """Run decoders at the same priority as the tests. Otherwise, the tests would delay them for minutes."""
    # The RTP core is also tested on systems that cannot import the other packages.
    sandbox = sys.modules.get("svc.base.sandbox")
    with pytest.MonkeyPatch.context() as patch:
        if sandbox:
            patch.setattr(sandbox, "NICENESS", 0)
        yield


@pytest.fixture(scope="session", autouse=True)
def forked_programs() -> Iterator[None]:
    """Start programs by forking. The fork server starts with the first test that needs it."""
    with forking():
        yield


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    running = Stores(tmp_path_factory.mktemp("stores"))
    yield running
    running.close()
