"""People who invite others see a warning if the page's URL cannot work for the invited people."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from tests.kit.browser_users import (
    FLAGS,
    INSECURE_HOST,
    NARROW,
    WIDE,
    People,
    Person,
    bare_chromium,
    chromium,
    people_at,
)
from tests.kit.community import open_settings
from tests.kit.svc_up import running_svc_up

NEARBY = "server.lan"
NAMES = f"--host-resolver-rules=MAP {INSECURE_HOST} 127.0.0.1, MAP {NEARBY} 127.0.0.1"


@asynccontextmanager
async def opened(url: str, executable: str | None, *flags: str) -> AsyncIterator[Person]:
    """Open this URL in a new browser and join. Yield the person."""
    if executable is None:
        pytest.fail("Chromium is missing; ci/setup installs it")
    flags = (*FLAGS, NAMES, *flags)
    async with people_at(url, executable, flags=flags, service_worker=False, still=True) as people:
        person = await people.arrive("Ada")
        await person.come_in()
        yield person
        assert people.faults == []


async def shows_problem(person: Person, problem: str, what: str, to_do: str) -> None:
    """Check that the health page and the invite dialog show the problem, on a computer and on a phone."""
    for size in (WIDE, NARROW):
        await person.resize(size)
        page = await open_settings(person, "Health")
        await note_shows_problem(page.get_by_role("note"), problem, what, to_do)
        await person.page.keyboard.press("Escape")
        await note_shows_problem(await link_warning(person), problem, what, to_do)
        await person.page.keyboard.press("Escape")


async def note_shows_problem(note: Locator, problem: str, what: str, to_do: str) -> None:
    await expect(note).to_contain_text(what)
    await expect(note).to_contain_text(to_do)
    await expect(note).to_have_attribute("data-problem", problem)


async def link_warning(person: Person) -> Locator:
    await person.show_channels()
    await person.press("Invite people")
    dialog = person.page.get_by_role("dialog", name="Invite people")
    await dialog.get_by_role("button", name="Create link").click()
    await expect(dialog.get_by_label("Invite link")).to_be_visible()
    return dialog.get_by_role("note")


async def test_a_loopback_address_is_reported_as_unreachable_for_others(people: People) -> None:
    ada = await people.arrive("Ada")
    await ada.come_in()
    steps = ada.page.get_by_role("region", name="Your server is ready")
    await steps.get_by_role("button", name="Invite someone with a link").click()
    what, to_do = "works only on this computer", "--host 0.0.0.0 --tls"
    await note_shows_problem(steps.get_by_role("note"), "only-here", what, to_do)
    await shows_problem(ada, "only-here", what, to_do)


async def test_nobody_can_sign_in_at_an_address_without_a_certificate(tmp_path: Path) -> None:
    async with running_svc_up(tmp_path / "data", EXTERNAL_HOST=INSECURE_HOST) as product:
        url = product.url.replace("127.0.0.1", INSECURE_HOST)
        # Operators often make only their own browser trust the address.
        trusted = f"--unsafely-treat-insecure-origin-as-secure={url.split('/#')[0]}"
        async with opened(url, chromium(), trusted) as ada:
            await shows_problem(
                ada, "no-tls", "Browsers don’t let anyone sign in at plain.example", "with --tls"
            )


async def test_a_local_network_name_works_on_the_local_network(tmp_path: Path) -> None:
    async with running_svc_up(tmp_path / "data", "--tls", EXTERNAL_HOST=NEARBY) as product:
        url = product.url.replace("127.0.0.1", NEARBY)
        async with opened(url, bare_chromium(), "--ignore-certificate-errors") as ada:
            await shows_problem(
                ada, "nearby", "server.lan", "Open the page at that name before you create links"
            )


async def test_a_public_name_with_a_certificate_gets_no_warning(tmp_path: Path) -> None:
    async with running_svc_up(tmp_path / "data", "--tls", EXTERNAL_HOST=INSECURE_HOST) as product:
        url = product.url.replace("127.0.0.1", INSECURE_HOST)
        async with opened(url, bare_chromium(), "--ignore-certificate-errors") as ada:
            await expect(await link_warning(ada)).to_have_count(0)
