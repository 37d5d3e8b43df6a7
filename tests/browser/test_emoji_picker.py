"""The emoji picker can be searched, works by keyboard, and remembers the skin tone and recent emoji."""

from playwright.async_api import Locator, expect

from tests.kit.browser_users import People, narrow_only, wide_only
from tests.kit.component_views import Bench, bench
from tests.kit.svc_up import SvcUp
from tests.kit.wait import wait_until

OWN = [["tada", {"url": "/web/icon.svg"}], ["wave_hard", {"url": "/web/icon.svg"}]]


async def opened(people: People, product: SvcUp) -> Bench:
    on = await bench(people, product)
    await show(on)
    return on


async def show(on: Bench) -> None:
    await on.put(
        "views/emoji/picker.js",
        "EmojiPicker",
        {"serverEmoji": OWN},
        maps=("serverEmoji",),
        callbacks=("onChoose", "onClose"),
    )
    await expect(emoji(on, "grinning face")).to_be_visible()
    await expect(on.page.get_by_role("searchbox")).to_be_focused()


def emoji(on: Bench, label: str) -> Locator:
    return on.page.get_by_role("gridcell").get_by_role("button", name=label, exact=True)


@wide_only
async def test_typing_and_pressing_enter_chooses_an_emoji_and_custom_emoji_come_first(
    people: People, product: SvcUp
) -> None:
    on = await opened(people, product)
    field = on.page.get_by_role("searchbox")
    await field.press_sequentially("party pop")
    await expect(on.page.get_by_role("gridcell")).to_have_count(1)
    await field.press("Enter")
    assert await on.calls() == [["onChoose", "🎉"]]
    await field.fill("no such thing")
    await expect(on.page.get_by_role("status")).to_have_text(await on.words("emoji-none"))
    await field.press("Escape")
    assert await on.calls() == [["onChoose", "🎉"], ["onClose"]]
    await field.fill("tada")
    first = on.page.get_by_role("gridcell").first.get_by_role("button")
    await expect(first).to_have_attribute("aria-label", ":tada:")
    await field.press("Enter")
    assert (await on.calls())[2:] == [["onChoose", ":tada:"]]


# Returns the free space before the first and after the last emoji in a full row.
MARGINS = """(cell) => {
  const [row, grid] = [cell.closest("[role=row]"), cell.closest(".emoji-grid")];
  const cells = [...row.children].map((each) => each.querySelector("button").getBoundingClientRect());
  const { left } = grid.getBoundingClientRect();
  return [cells[0].left - left, left + grid.clientWidth - cells.at(-1).right].map(Math.round);
}"""


@wide_only
async def test_the_emoji_grid_fills_the_width_of_the_picker(people: People, product: SvcUp) -> None:
    on = await opened(people, product)
    assert await emoji(on, "grinning face").evaluate(MARGINS) == [0, 0]
    # The emoji have been loaded, so the second picker has them from the start.
    await show(on)
    await expect(on.page.locator(".emoji-grid")).to_have_js_property("scrollTop", 0)


@wide_only
async def test_the_arrow_keys_reach_every_emoji(people: People, product: SvcUp) -> None:
    on = await opened(people, product)

    async def few_are_drawn() -> bool:
        return await on.page.get_by_role("gridcell").count() < 200

    keys = on.page.keyboard
    await keys.press("ArrowDown")
    await expect(emoji(on, ":tada:")).to_be_focused()
    await keys.press("ArrowRight")
    await expect(emoji(on, ":wave_hard:")).to_be_focused()
    await keys.press("ArrowDown")
    await keys.press("Home")
    await expect(emoji(on, "grinning face")).to_be_focused()
    await keys.press("Enter")
    for _ in range(5):
        await keys.press("PageDown")
    focused = on.page.locator(".emoji-grid button:focus")
    await expect(focused).to_be_in_viewport()
    await expect(on.page.locator('.emoji-grid [tabindex="0"]')).to_have_count(1)
    # Rows that are scrolled out of view are removed when the browser reports the scroll event.
    await wait_until("only a few rows are rendered", few_are_drawn, within_s=15)
    for _ in range(5):
        await keys.press("PageUp")
    for _ in range(3):
        await keys.press("ArrowUp")
    await expect(on.page.get_by_role("searchbox")).to_be_focused()
    assert await on.calls() == [["onChoose", "😀"]]


@narrow_only
async def test_a_category_is_one_click_away_and_a_click_outside_closes_the_picker(
    people: People, product: SvcUp
) -> None:
    on = await opened(people, product)
    await on.page.get_by_role("button", name=await on.words("emoji-group-9"), exact=True).click()
    await expect(emoji(on, "chequered flag")).to_be_visible()
    await emoji(on, "chequered flag").click()
    assert await on.calls() == [["onChoose", "🏁"]]
    size = await on.page.evaluate("[innerWidth, innerHeight]")
    await on.page.mouse.click(size[0] - 5, size[1] - 5)
    assert (await on.calls())[1:] == [["onClose"]]


@narrow_only
async def test_the_skin_tone_and_recent_emoji_are_remembered(people: People, product: SvcUp) -> None:
    on = await opened(people, product)
    await on.page.get_by_role("radio", name=await on.words("emoji-tone-5"), exact=True).check(force=True)
    await on.page.get_by_role("searchbox").fill("waving hand")
    await emoji(on, "waving hand").click()
    assert await on.calls() == [["onChoose", "👋🏿"]]
    await on.open()
    await show(on)
    await expect(on.page.get_by_role("gridcell").first).to_have_text("👋🏿")
    await expect(
        on.page.get_by_role("radio", name=await on.words("emoji-tone-5"), exact=True)
    ).to_be_checked()
