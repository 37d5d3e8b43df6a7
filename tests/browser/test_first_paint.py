"""A returning member's browser fetches little data before the first message appears."""

from typing import Any

import pytest
from playwright.async_api import ViewportSize

from tests.kit.browser_users import People
from tests.kit.text_channels import join_and_open, write

BUDGET_BYTES = 120_000  # for scripts and style sheets with their headers
BUDGET_WITH_FONT_BYTES = 150_000  # including the Latin font, which is fetched later
# Records the time at which a page with an empty cache shows the first message, and the files that it fetches.
WATCH = """
window.firstMessage = new Promise((found) => {
  const look = () =>
    requestAnimationFrame((now) =>
      document.querySelector(".messages .message .text") ? found(performance.now()) : look());
  look();
});
"""
FETCHED = """async () => {
  const shown = await window.firstMessage;
  return performance.getEntriesByType("resource").map(({ name, startTime, transferSize }) =>
    ({ name: name.split("/").at(-1), early: startTime < shown, size: transferSize }));
}"""
ALL_HERE = """() => ["later.js", "later.css", ".woff2"].every((end) =>
  performance.getEntriesByType("resource").some(({ name }) => name.endsWith(end)))"""


@pytest.mark.parametrize("viewport", [ViewportSize(width=1440, height=900)], indirect=True)
async def test_little_data_is_fetched_before_the_first_message_appears(people: People) -> None:
    """Measure the owner's page, which loads the most code at startup: for dragging, reports and, on a wide
    screen, the member list.
    """
    ada = await people.arrive("Ada")
    await join_and_open(ada)
    await write(ada, "The first message")
    tools = await ada.page.context.new_cdp_session(ada.page)
    await tools.send("Network.clearBrowserCache")
    await ada.page.add_init_script(WATCH)
    await ada.page.reload()
    await ada.page.wait_for_function(ALL_HERE)
    fetched: list[dict[str, Any]] = await ada.page.evaluate(FETCHED)
    files = [file for file in fetched if file["name"].endswith((".js", ".css", ".woff2"))]
    early = {file["name"]: file["size"] for file in files if file["early"]}
    assert early.keys() == {"main.js", "first.js", "style.css"}
    assert 0 < sum(early.values()) <= BUDGET_BYTES, early
    fonts = {file["name"]: file["size"] for file in files if file["name"].endswith(".woff2")}
    latin = [size for name, size in fonts.items() if name.startswith("inter-latin.")]
    assert len(latin) == 1 and latin[0] > 0, fonts
    assert sum(early.values()) + sum(latin) <= BUDGET_WITH_FONT_BYTES
