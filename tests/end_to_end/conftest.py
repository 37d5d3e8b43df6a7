"""Provides each end-to-end test with its own media service and checks that it exits without an error."""

from collections.abc import AsyncIterator

import pytest

from tests.kit.aiortc_guests import Guests, guests_of
from tests.kit.sfu_process import ControlConnection, SfuProcess, running_sfu


@pytest.fixture
async def sfu(request: pytest.FixtureRequest) -> AsyncIterator[SfuProcess]:
    """Run a media service. The optional parameter contains environment variables."""
    async with running_sfu(**getattr(request, "param", {})) as sfu:
        yield sfu
    assert sfu.faults == [], sfu.output


@pytest.fixture
async def control(sfu: SfuProcess) -> ControlConnection:
    """Connect as the chat server "home", with the room "lobby"."""
    return await sfu.control("lobby")


@pytest.fixture
async def guests(sfu: SfuProcess, control: ControlConnection) -> AsyncIterator[Guests]:
    async with guests_of(sfu) as guests:
        yield guests
