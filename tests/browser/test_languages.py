"""In other languages, no English text remains in the web client, and text runs in its reading direction."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Literal

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.test_accessibility import axe, expect_accessible
from tests.browser.test_hostile_content import TOO_WIDE
from tests.kit.browser_users import People, Person, both_widths, until_still, wide_only
from tests.kit.text_channels import box, message, press_at, write
from tests.web.test_translations import OFFERED, SEARCH_FILTERS, messages

__all__ = ["axe"]

# Returns all text that is visible or announced by screen readers.
WORDS = """() => {
  const isShown = (element) => element?.checkVisibility({ visibilityProperty: true });
  const found = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    if (isShown(texts.currentNode.parentElement)) found.add(texts.currentNode.data.trim());
  }
  for (const name of ["aria-label", "title", "placeholder", "alt"]) {
    const named = [...document.querySelectorAll(`[${name}]`)].filter(isShown);
    for (const element of named) found.add(element.getAttribute(name).trim());
  }
  return [...found, document.title];
}"""
PLACED = re.compile(r"\{[^{}]*\}")
VARIANT = re.compile(r"^\s*\*?\[\w+\] (.*)$", re.MULTILINE)
PAGES = ["members", "search-field", "pins", "threads", "inbox"]
IN_MENU = {"pins", "threads"}
NAMES = {"general", "Voice", "svc", "Ada", "online"}
HEBREW, ARABIC = "נועה כהן", "مرحبا بالجميع، متى نلتقي؟"
# Returns the free space to the left and to the right of an element's text.
ROOM = """(element, length) => {
  const range = document.createRange();
  range.selectNodeContents(element);
  if (length) range.setEnd(element.firstChild, length);
  const [words, box] = [range.getBoundingClientRect(), element.getBoundingClientRect()];
  return { left: Math.round(words.left - box.left), right: Math.round(box.right - words.right) };
}"""


def translated(language: str, key: str) -> str:
    """Return the translated string with this key, up to its first placeholder."""
    return messages(language)[key].strip().split("\n")[0]


def sentences(language: str, key: str) -> Iterator[str]:
    """Yield all variants of the string with this key, with placeholders in braces."""
    text = messages(language)[key].split("\n#")[0].strip()
    yield from VARIANT.findall(text) if "->" in text else [text.split("\n")[0]]


def english_in(texts: list[str], language: str) -> set[str]:
    """Return the strings that are in English even though they have a translation in this language."""
    patterns = []
    for key in messages("en"):
        if set(sentences("en", key)) == set(sentences(language, key)):
            continue
        for sentence in sentences("en", key):
            fixed = PLACED.sub("", sentence)
            if "{" not in fixed and len(re.findall(r"[a-z]", fixed)) > 3:
                patterns.append(".+".join(re.escape(part) for part in PLACED.split(sentence)))
    english = re.compile("|".join(patterns))
    theirs = {sentence for key in messages(language) for sentence in sentences(language, key)}
    return {text for text in texts if english.fullmatch(text)} - theirs - NAMES


async def search(page: Page, language: str) -> None:
    """Find Ada's message, with filters in the page's language."""
    field = page.get_by_role("searchbox")
    await field.fill(f"{translated(language, 'search-from')}:Ada 2 -{translated(language, 'search-has')}:")
    kinds = page.get_by_role("list", name=translated(language, "search-filter-values"))
    await kinds.get_by_text(translated(language, "search-has-image")).click()
    await field.press("Enter")
    await expect(page.locator(".message-line")).to_have_count(1)


async def react(to: Locator, language: str) -> None:
    """React to a message, with an emoji named in the page's language."""
    await press_at(to, translated(language, "react"))
    await press_at(to.locator(".picker"), "👍")
    singular = PLACED.sub("1", next(sentences(language, "reaction-count")))
    await expect(to.locator(".reaction")).to_have_accessible_name(f"👍 {singular}")


@wide_only
@pytest.mark.parametrize(
    ("locale", "date"),
    [
        pytest.param("de-AT", "%d.%m.%Y", marks=pytest.mark.nightly("Japanese is checked daily")),
        ("ja-JP", "%Y/%m/%d"),
    ],
)
async def test_no_english_remains_in_another_language(
    people: People, axe: str, locale: str, date: str
) -> None:
    language = locale[:2]
    english: dict[str, set[str]] = {}
    ada = await people.arrive("Ada", locale=locale)
    page = ada.page

    async def look(where: str) -> None:
        await until_still(page)
        if left := english_in(await page.evaluate(WORDS), language):
            english[where] = left

    async def press(key: str, role: Literal["button", "menuitem"] = "button") -> None:
        await page.get_by_role(role, name=translated(language, key), exact=True).first.click()

    await page.get_by_label(translated(language, "your-name")).fill("Ada")
    await expect(page.locator("html")).to_have_attribute("lang", language)
    await look("the way in")
    await press("join")
    await expect(box(ada)).to_be_enabled()
    await look("an empty channel")
    await write(ada, "1, 2, 3")
    first = page.locator(".message").first
    await react(first, language)
    await look("a channel")
    await expect_accessible(ada, axe, f"a channel in {language}")
    panel = page.locator(".aside-body")
    for key in PAGES:
        if key in IN_MENU:
            await press("channel-more")
        await press(key, "menuitem" if key in IN_MENU else "button")
        await expect(panel).to_be_visible()
        await look(key)
        if key == "search-field":
            await search(page, language)
            await look("results")
        await panel.get_by_role("button", name=translated(language, "close")).click()
    dialog = page.get_by_role("dialog")
    for keys in ("Control+k", "Control+/"):
        await page.keyboard.press(keys)
        await expect(dialog).to_be_visible()
        await look(keys)
        await page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)
    await first.locator(".author").click()
    # The page displays the date in its language's format.
    joined = PLACED.sub(datetime.now().astimezone().strftime(date), translated(language, "joined-on"))
    await expect(page.get_by_role("dialog").get_by_text(joined, exact=True)).to_be_visible()
    await look("a profile")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await open_settings(ada, language)
    pages = page.locator(".settings-pages nav li button")
    for tab in await pages.all():
        await tab.click()
        await expect(page.locator(".settings-page h3").first).to_be_visible()
        await look(f"settings: {await tab.text_content()}")
    await page.keyboard.press("Escape")
    assert english == {}


@wide_only
async def test_an_invalid_search_is_explained_in_every_language(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    page = ada.page
    for language in OFFERED:
        await page.evaluate("(language) => { localStorage['svc.language'] = language; }", language)
        await page.reload()
        await page.get_by_role("button", name=translated(language, "search-field"), exact=True).click()
        filters = {name: translated(language, f"search-{name}") for name in SEARCH_FILTERS}
        kinds = translated(language, "search-has-link"), translated(language, "search-has-reaction")
        for query, key, filled in (
            (f"{filters['has']}:xyz", "search-kind-unknown", ("xyz", filters["has"], *kinds)),
            (f"{filters['before']}:2026-02-31", "search-day-unknown", ("2026-02-31",)),
            (f"-{filters['after']}:2026-01-31", "search-day-excluded", (filters["after"], filters["before"])),
            ("!", "error-invalid-query", ()),
            (" ".join(map(str, range(17))), "error-invalid-query", ()),
        ):
            await page.get_by_role("searchbox").fill(query)
            await page.get_by_role("searchbox").press("Enter")
            words = "(.+)".join(re.escape(part) for part in PLACED.split(translated(language, key)))
            problem = page.locator(".aside .error")
            await expect(problem).to_have_text(re.compile(f"^{words}$"))
            for field in filled:
                await expect(problem).to_contain_text(field)
        # Even a very long search text stays in its column.
        await page.get_by_role("searchbox").fill(f"{filters['has']}:{'x' * 200}")
        await page.get_by_role("searchbox").press("Enter")
        await expect(page.locator(".aside .error")).to_contain_text("x" * 200)
        await check_width(page, language)
        # Close the panel, because an open panel would reopen after a reload.
        await page.locator(".aside").get_by_role("button", name=translated(language, "close")).click()


async def open_settings(person: Person, language: str) -> None:
    if person.page.viewport_size and person.page.viewport_size["width"] < 640:
        await person.page.get_by_role(
            "button", name=translated(language, "show-channels"), exact=True
        ).click()
    await person.page.get_by_role("button", name=translated(language, "settings"), exact=True).click()
    await expect(person.page.get_by_role("dialog")).to_be_visible()


@both_widths
async def test_hebrew_and_arabic_run_from_right_to_left(people: People, axe: str) -> None:
    noa, ada = [await people.arrive(name, reads="general") for name in (HEBREW, "Ada")]
    await write(noa, ARABIC)
    await write(noa, "Hello, " + "שלום " * 40)
    came = message(ada, ARABIC)
    text = came.locator(".text p").first
    await expect(text).to_have_css("direction", "rtl")
    room = await text.evaluate(ROOM)
    assert room["right"] <= 1 and room["left"] > 20, room
    await write(noa, f"| {ARABIC} |\n|---|\n| 1 |\n\n{ARABIC} #general {ARABIC}")
    room = await ada.page.locator(".message .table").evaluate(ROOM)
    assert room["right"] <= 1 and room["left"] > 20, room
    # The name of a channel keeps its own direction.
    sign = await ada.page.locator(".message .mention").evaluate(ROOM, 1)
    assert sign["left"] < sign["right"], sign
    name = came.locator("button.author")
    await expect(name).to_have_css("direction", "rtl")
    await expect(name).to_have_text(HEBREW)
    # The name is aligned with other names, next to the avatar.
    left = await ada.page.evaluate(
        "(text) => document.querySelector('.message .body').getBoundingClientRect().left", ""
    )
    author = await name.bounding_box()
    assert author and author["x"] - left < 4
    await box(ada).fill(ARABIC)
    await expect(box(ada)).to_have_css("direction", "rtl")
    await check_width(ada.page, "left to right")
    # On a right-to-left page, nothing is cut off and text starts at the right.
    await ada.page.evaluate("document.documentElement.dir = 'rtl'")
    await check_width(ada.page, "right to left")
    await expect_accessible(ada, axe, "right to left")
    await name.click()
    await expect(ada.page.get_by_role("dialog", name=HEBREW)).to_be_visible()
    await check_width(ada.page, "a profile")
    await ada.page.keyboard.press("Escape")
    await ada.show_channels()
    await until_still(ada.page)
    sidebar = await ada.page.locator(".sidebar").bounding_box()
    assert sidebar and ada.page.viewport_size
    assert round(sidebar["x"] + sidebar["width"]) == ada.page.viewport_size["width"]
    await check_width(ada.page, "the channels")
    await expect_accessible(ada, axe, "the channels from right to left")


async def check_width(page: Page, where: str) -> None:
    await until_still(page)
    assert await page.evaluate(TOO_WIDE) == [], where
