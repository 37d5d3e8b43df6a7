"""Runs axe on every component in every state and in both themes.

With VIEWS=1, screenshots are saved in build/pictures/views for visual inspection.
"""

from typing import Any

import pytest
from playwright.async_api import Page, async_playwright

from tests.browser.test_accessibility import axe, save_view
from tests.design.serve import design_page
from tests.kit.browser_users import FLAGS, bare_chromium

__all__ = ["axe"]

WIDTHS = (390, 1280)
# Two rules do not apply here: a single component has no landmarks, and the page contains the same element in
# four states.
RULES = {"region": {"enabled": False}, "duplicate-id": {"enabled": False}}
# Returns the fields whose height is not the standard control height. Fields and buttons in a row must line
# up.
HEIGHTS = """() => {
  const control = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--control"));
  const fields = document.querySelectorAll(".field > :is(select, input:not([type=range]))");
  return [...fields].filter((each) => each.checkVisibility() && each.offsetHeight !== control)
    .map((each) => `${each.offsetHeight} px: ${each.outerHTML}`);
}"""
FINDINGS = """(rules) => axe.run(document, { rules }).then(({ violations }) => violations.map(
  ({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`)}`))"""


async def force_states(page: Page) -> None:
    """Render the elements with `data-forced` as hovered or focused."""
    tools = await page.context.new_cdp_session(page)
    for method in ("DOM.enable", "CSS.enable"):
        await tools.send(method)
    root = (await tools.send("DOM.getDocument"))["root"]["nodeId"]
    for state in ("hover", "focus-visible"):
        query = {"nodeId": root, "selector": f"[data-forced={state}] :is(button, input)"}
        for node in (await tools.send("DOM.querySelectorAll", query))["nodeIds"]:
            await tools.send("CSS.forcePseudoState", {"nodeId": node, "forcedPseudoClasses": [state]})


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_no_problem_in_any_state_of_a_component(axe: str, scheme: Any) -> None:
    async with design_page() as address, async_playwright() as playwright:
        browser = await playwright.chromium.launch(args=FLAGS, executable_path=bare_chromium())
        page = await browser.new_page(color_scheme=scheme)
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        for width in WIDTHS:
            await page.set_viewport_size({"width": width, "height": 900})
            await page.goto(address)
            await page.wait_for_selector("body[data-drawn]")
            await force_states(page)
            await save_view(page, f"design-{scheme}-{width}", full_page=True)
            assert await page.evaluate("document.documentElement.scrollWidth") <= width
            assert await page.evaluate(HEIGHTS) == []
        await page.emulate_media(forced_colors="active")
        await save_view(page, f"design-{scheme}-forced", full_page=True)
        await page.emulate_media(forced_colors="none")
        await page.evaluate(axe)
        assert await page.evaluate(FINDINGS, RULES) == []
        assert faults == []
        await browser.close()
