"""Provides each browser test with its own server and users. Their pages must not report any errors.

The browser and its event loop outlive the test, because all tests in this folder run in one loop.
"""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import ViewportSize

from tests.kit.browser_users import VIEWPORT, People, SharedBrowsers, bare_chromium, chromium, shared_browsers
from tests.kit.community import ROLES
from tests.kit.firefox import Firefox, firefox, running_firefox
from tests.kit.svc_up import SvcUp, running_svc_up

HERE = Path(__file__).parent
# Tests in these folders start with a call, so their users join the community before they open a page.
CALLS = {HERE / "calls", HERE / "measured"}
TIMEOUT_S = 300


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run all tests in one event loop, with a longer timeout, because browsers are slow on a busy machine."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.timeout(TIMEOUT_S))
            if item.get_closest_marker("asyncio"):
                item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browsers() -> AsyncIterator[SharedBrowsers]:
    async with shared_browsers() as browsers:
        yield browsers


@pytest.fixture
def second_channel() -> None:
    """Request a server with a second text channel, #random."""


@pytest_asyncio.fixture(loop_scope="session")
async def product(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[SvcUp]:
    variables = {"ADDITIONAL_CHANNELS": "random"} if "second_channel" in request.fixturenames else {}
    async with running_svc_up(tmp_path / "data", **variables) as product:
        yield product
    assert "Traceback" not in product.output, product.output
    assert "eyJ" not in product.output, "a token was logged"


@pytest.fixture
def viewport(request: pytest.FixtureRequest) -> ViewportSize:
    """Return the window size of all pages. `both_widths`, `wide_only` and `narrow_only` choose it."""
    return getattr(request, "param", VIEWPORT)


@pytest.fixture
def pages(request: pytest.FixtureRequest) -> Sequence[str]:
    """Return the roles of the members with open pages. The marker `pages` chooses them."""
    marker = request.node.get_closest_marker("pages")
    return marker.args if marker else ROLES


@pytest.fixture
def whole_browser() -> None:
    """Request the full Chromium, for example for tests of system notifications.

    In the full browser, joining a call takes twice the CPU time, so most call tests do not use it.
    """


@pytest.fixture
def motion() -> None:
    """Turn on animations, such as the growing rings around speakers.

    They are off by default, because they take CPU time and every click waits for them to end.
    """


@pytest.fixture
def service_worker() -> None:
    """Let the page register its service worker, for tests of offline use, shared content, push messages and
    system notifications.
    """


@pytest_asyncio.fixture(loop_scope="session")
async def people(
    product: SvcUp, browsers: SharedBrowsers, viewport: ViewportSize, request: pytest.FixtureRequest
) -> AsyncIterator[People]:
    executable = chromium() if "whole_browser" in request.fixturenames else bare_chromium()
    if executable is None:
        pytest.fail("Chromium is missing; ci/setup installs it")
    async with browsers.people_at(
        product.url,
        executable,
        viewport=viewport,
        service_worker="service_worker" in request.fixturenames,
        still="motion" not in request.fixturenames,
        members=request.path.parent in CALLS,
    ) as people:
        yield people
        assert people.faults == []


@pytest_asyncio.fixture(loop_scope="session")
async def fox(tmp_path: Path) -> AsyncIterator[Firefox]:
    executable = firefox()
    if executable is None:
        pytest.skip("Firefox is not installed")
    async with running_firefox(executable, tmp_path / "profile") as browser:
        yield browser
