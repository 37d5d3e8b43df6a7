"""People can talk on a server with a self-signed certificate, after a single browser warning.

Over plain HTTP, browsers would not grant access to the microphone under the server's host name.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Error

from tests.kit.browser_users import INSECURE_HOST, People, Person, chromium, people_at
from tests.kit.svc_up import SvcUp, running_svc_up


@pytest_asyncio.fixture(loop_scope="session")
async def product(tmp_path: Path) -> AsyncIterator[SvcUp]:
    async with running_svc_up(tmp_path / "data", "--tls", EXTERNAL_HOST=INSECURE_HOST) as product:
        yield product
    assert "Traceback" not in product.output, product.output


@pytest_asyncio.fixture(loop_scope="session")
async def people(product: SvcUp) -> AsyncIterator[People]:
    executable = chromium()
    if executable is None:
        pytest.fail("Chromium is missing; ci/setup installs it")
    # Use the address as people type it, without "https".
    url = product.url.replace("https://127.0.0.1", f"http://{INSECURE_HOST}")
    async with people_at(url, executable, still=True) as people:
        yield people
        assert people.faults == []


async def arrive(people: People, name: str) -> Person:
    """Open the page and continue past the browser's warning."""
    with pytest.raises(Error, match="ERR_CERT_AUTHORITY_INVALID"):
        await people.arrive(name)
    person = people.latest
    # Click "Advanced" and then "Proceed".
    await person.page.locator("#details-button").click()
    await person.page.locator("#proceed-link").click()
    await person.page.get_by_label("Your name").wait_for()
    return person


async def test_people_can_talk_over_tls_after_one_browser_warning(people: People) -> None:
    ada, grace = await arrive(people, "Ada"), await arrive(people, "Grace")
    assert await ada.page.evaluate("[location.protocol, isSecureContext]") == ["https:", True]
    await ada.join()
    await grace.join()
    await asyncio.gather(ada.sees(grace, frames=30), grace.sees(ada, frames=30))
    await asyncio.gather(ada.hears(grace), grace.hears(ada))
