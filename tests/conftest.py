"""What tests of several programs share: the object stores, each started once, and unhurried examples."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.kit.object_stores import Stores

# A machine that does something else too takes longer for an example, which says nothing about it.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    running = Stores(tmp_path_factory.mktemp("stores"))
    yield running
    running.close()
