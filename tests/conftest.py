"""What tests of several programs share: the object stores, each started once."""

from collections.abc import Iterator

import pytest

from tests.kit.object_stores import Stores


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    running = Stores(tmp_path_factory.mktemp("stores"))
    yield running
    running.close()
