"""The web client shows the download bandwidth, which the service estimates from the browser's feedback."""

import re

from tests.kit.browser_users import People
from tests.kit.wait import wait_until

ESTIMATE = re.compile(r"Download bandwidth\s*(?:at least )?([\d,]+) kbit/s")


async def test_a_page_shows_its_available_bandwidth(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.arrive("Grace", reads="general")
    await grace.enter_call(camera=True)
    await ada.enter_call(camera=True)
    await ada.sees(grace)
    await ada.press("More call options")
    await ada.page.get_by_role("menuitem", name="Call quality").click()

    async def much() -> bool:
        match = ESTIMATE.search(await ada.page.locator(".numbers").inner_text())
        return match is not None and int(match[1].replace(",", "")) >= 2_000

    # This is far more than one small camera uses, so probing must have found it. The video continues
    # meanwhile.
    await wait_until("the estimate reaches 2 Mbit/s", much, within_s=30)
    await ada.sees(grace)
