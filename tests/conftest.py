"""Settings for tests of several programs: the order of slow tests, the object stores, and unhurried
examples.
"""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.kit.fork_server import forking
from tests.kit.object_stores import Stores

# A machine that does something else too takes longer for an example, which says nothing about it.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

HERE = Path(__file__).parent
# Where browsers or programs start, or more than a few seconds pass.
SLOW = [HERE / line for line in (HERE / "slow.txt").read_text().splitlines()]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip the import of unwanted tests: it takes as long as many tests."""
    return True if "not slow" in config.option.markexpr and is_slow(collection_path) else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Start two workers per processor: a test waits half of its time for browsers, programs and networks."""
    return 2 * (os.cpu_count() or 1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run slow tests first, so that no processor waits at the end for one long file."""
    for item in items:
        if is_slow(item.path):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: not is_slow(item.path))


@cache  # Every worker asks twice for each test, and there are ten thousand.
def is_slow(path: Path) -> bool:
    return any(path.is_relative_to(each) for each in SLOW)


@pytest.fixture(scope="session", autouse=True)
def forked_programs() -> Iterator[None]:
    """Start programs by forking. The server for it starts with the first test that needs it."""
    with forking():
        yield


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    running = Stores(tmp_path_factory.mktemp("stores"))
    yield running
    running.close()
