"""axe-core finds no problems in any view, at both sizes and in both themes, and nothing is cut off.

axe checks everything that a program can check: names, roles, contrast and order. All user-chosen names are in
Hebrew, so the page must set their direction everywhere. Each feature's own tests check keyboard use. With
VIEWS=1, a screenshot of each view is saved in build/pictures/views for visual inspection.
"""

import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.browser.test_hostile_content import TOO_WIDE, UNDIRECTED
from tests.kit.browser_users import DRAWER_UP_TO, NARROW, UNTIL_STILL, WIDE, People, Person, until_still
from tests.kit.community import ask, own_id
from tests.kit.packages import npm_packages
from tests.kit.pictures import encoded, scene
from tests.kit.text_channels import box, do, message, press_at, write

AXE = Path(__file__).parents[1] / "axe"
VIEWS = Path(__file__).parents[2] / "build" / "pictures" / "views"
SIZES = {"wide": WIDE, "narrow": NARROW}
# Runs the function in the other theme and labels the faults it returns. Nothing is painted in between,
# because painting would take as long as the check itself.
IN_OTHER_THEME = """async (run) => {
  const { dataset } = document.documentElement;
  const { theme } = dataset;
  const followsSystem = !["light", "dark"].includes(theme);
  const isDark = followsSystem ? matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";
  const endTransitions = () => document.getAnimations()
    .filter((each) => each instanceof CSSTransition).forEach((each) => each.finish());
  const other = isDark ? "light" : "dark";
  dataset.theme = other;
  endTransitions();
  const faults = await run();
  if (theme) dataset.theme = theme;
  else delete dataset.theme;
  endTransitions();
  return faults.map((fault) => `${other}: ${fault}`);
}"""
# Runs all of axe's rules, and then only the contrast rule in the other theme, because nothing else depends on
# the theme.
AXE_FAULTS = f"""async (bothThemes) => {{
  await ({UNTIL_STILL})();
  // The page behind a modal dialog is inert, and was checked before the dialog opened.
  const dialog = [...document.querySelectorAll("dialog:modal")].at(-1);
  const part = dialog ? {{ include: [dialog, ...document.querySelectorAll(":popover-open")] }} : document;
  const run = async (options) => {{
    // Only a rule that axe does not run by default needs axe to load the style sheets.
    const preload = {{ assets: ["media"] }};
    const {{ violations }} = await axe.run(part, {{ resultTypes: ["violations"], preload, ...options }});
    return violations.flatMap(({{ id, nodes }}) => nodes.map(({{ target, failureSummary: why }}) => (
      `${{id}}: ${{target.join(" ")}}: ${{why.split("\\n")[1] ?? ""}}`)));
  }};
  // People who use voice control say the text that they see.
  const faults = await run({{ rules: {{ "label-content-name-mismatch": {{ enabled: true }} }} }});
  faults.push(...({UNDIRECTED})());
  const contrasts = () => run({{ runOnly: ["color-contrast"] }});
  return bothThemes ? [...faults, ...(await ({IN_OTHER_THEME})(contrasts))] : faults;
}}"""

# A phone at 200 % zoom is the narrowest window, and hardly taller than a phone in landscape.
SMALLEST = [(195, 390)]
SMALL = [(320, 568), (740, 360)]  # A small phone, and one in landscape.
# Returns the controls in the topmost layer that are outside the window or cut off and cannot be scrolled into
# view. Waits first, because lists are laid out again one frame after they change size.
CUT_OFF = """() => {
  const layers = [...document.querySelectorAll("dialog[open], .menu, .emoji-popup, .picker")];
  const drawer = document.querySelector(".home[data-drawer=open] .sidebar");
  const root = layers.pop() ?? drawer ?? document.body;
  const scrolls = (element, axis) => {
    const { overflowX, overflowY } = getComputedStyle(element);
    return ["auto", "scroll"].includes(axis === "x" ? overflowX : overflowY);
  };
  const isOut = (element) => {
    const { left, right, top, bottom, width, height } = element.getBoundingClientRect();
    if (width <= 1 || height <= 1) return false; // Only for screen readers.
    const free = { x: false, y: false };
    for (let up = element.parentElement; up; up = up.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(up);
      const edge = up.getBoundingClientRect();
      free.x ||= scrolls(up, "x");
      free.y ||= scrolls(up, "y");
      if (up === document.body || up.matches("[popover], dialog")) break;
      if (!free.x && overflowX !== "visible" && (left < edge.left - 1 || right > edge.right + 1)) return true;
      if (!free.y && overflowY !== "visible" && (top < edge.top - 1 || bottom > edge.bottom + 1)) return true;
    }
    const isAside = !free.x && (left < -1 || right > innerWidth + 1);
    return isAside || (!free.y && (top < -1 || bottom > innerHeight + 1));
  };
  const controls = "button, a[href], input:not([type=file]), select, textarea, summary";
  return [...root.querySelectorAll(controls)]
    .filter((each) => each.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .filter(isOut)
    .map((each) => `cut off: ${each.outerHTML.slice(0, 120)}`);
}"""
MISPLACED = f"async () => {{ await ({UNTIL_STILL})(); return [...({TOO_WIDE})(), ...({CUT_OFF})()]; }}"
# Sets the colour of all visible coloured names to each hue in several shades, and measures their contrast as
# axe does. axe's tree is needed only to find the backgrounds, which do not change. Names that are scrolled
# out of view have no background in axe.
HUES = f"""async () => {{
  const {{ Color, getBackgroundColor, getContrast }} = axe.commons.color;
  const faintNames = () => {{
    axe.setup(document);
    const names = [...document.querySelectorAll(".coloured")]
      .map((name) => [name, getBackgroundColor(name)])
      .filter(([, behind]) => behind);
    axe.teardown();
    const found = [];
    for (let hue = 0; hue < 360; hue += 20) {{
      for (const role of [`hsl(${{hue}} 100% 50%)`, `hsl(${{hue}} 60% 85%)`, `hsl(${{hue}} 80% 20%)`]) {{
        for (const [name, behind] of names) {{
          name.style.setProperty("--role", role);
          const ink = new Color();
          ink.parseString(getComputedStyle(name).color);
          const contrast = getContrast(behind, ink);
          if (!(contrast >= 4.5)) found.push(`${{role}}: ${{name.textContent}}: ${{contrast}}`);
        }}
      }}
    }}
    return names.length ? found : ["no name has a colour"];
  }};
  return [...faintNames(), ...(await ({IN_OTHER_THEME})(faintNames))];
}}"""

# Returns whether a tile's frame is visible exactly while the person is speaking, in forced-colours mode.
FRAMED = """(speaks) => {
  const tile = document.querySelector(".tile");
  const framed = getComputedStyle(tile, "::after").borderTopColor !== "rgba(0, 0, 0, 0)";
  return framed === speaks && tile.matches(".speaking") === speaks;
}"""
# Returns the left edge of each element's text.
STARTS = """(all) => all.map((each) => {
  const words = document.createRange();
  words.selectNodeContents(each);
  return Math.round(words.getBoundingClientRect().left);
})"""


@pytest_asyncio.fixture(loop_scope="session")
async def axe() -> AsyncIterator[str]:
    folder = await npm_packages(AXE)
    yield (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()


async def save_view(page: Page, name: str, *, full_page: bool = False) -> None:
    """Save a screenshot if VIEWS is set. Otherwise, nobody would look at it."""
    if "VIEWS" in os.environ:
        await page.screenshot(path=VIEWS / f"{name}.png", full_page=full_page)


async def look(person: Person, axe: str, where: str, faults: list[str], *, both_themes: bool = True) -> None:
    """Check the current view with axe, including its contrasts in the other theme."""
    if not await person.page.evaluate("'axe' in window"):
        await person.page.evaluate(axe)
    faults += [f"{where}: {fault}" for fault in await person.page.evaluate(AXE_FAULTS, both_themes)]
    await save_view(person.page, re.sub(r"[^a-z0-9]+", "-", where.lower()))


async def fits(person: Person, where: str, faults: list[str], sizes: Sequence[tuple[int, int]]) -> None:
    """Check that nothing scrolls sideways and every control can be reached in small windows."""
    before = person.page.viewport_size
    assert before is not None
    for width, height in sizes:
        await person.resize({"width": width, "height": height})
        wrong = await person.page.evaluate(MISPLACED)
        faults += [f"{where}, {width} x {height}: {fault}" for fault in wrong]
        if wrong:
            name = re.sub(r"[^a-z0-9]+", "-", f"{where}-{width}".lower())
            await person.page.screenshot(path=VIEWS / f"cut-off-{name}.png")
    await person.resize(before)
    await until_still(person.page)


async def close(person: Person) -> None:
    await person.page.keyboard.press("Escape")
    await expect(person.page.get_by_role("dialog")).to_have_count(0)


async def expect_accessible(person: Person, axe: str, where: str, *, both_themes: bool = True) -> None:
    """Check a view with axe-core in the current window."""
    faults: list[str] = []
    assert person.page.viewport_size is not None
    width = person.page.viewport_size["width"]
    await look(person, axe, f"{where}, {width}", faults, both_themes=both_themes)
    assert not faults, "\n".join(faults)


async def at_both_sizes(person: Person, axe: str, where: str) -> None:
    """Check a view on a phone and on a computer. Nothing in it may be wider than the page.

    The other theme is checked at only one size, because colours do not depend on the size.
    """
    before = person.page.viewport_size
    assert before is not None
    for size in (NARROW, WIDE):
        await person.resize(size)
        await expect_accessible(person, axe, where, both_themes=size is NARROW)
        assert await person.page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    await person.resize(before)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("size", "windows"),
    [
        pytest.param("narrow", SMALLEST, id="narrow"),
        pytest.param(
            "narrow", SMALL, marks=pytest.mark.nightly("the smallest window runs daily"), id="small"
        ),
        pytest.param(
            "wide", SMALLEST, marks=pytest.mark.nightly("the narrow page has the same views daily"), id="wide"
        ),
    ],
)
async def test_every_view_is_accessible(
    people: People, axe: str, size: str, windows: Sequence[tuple[int, int]]
) -> None:
    faults: list[str] = []
    ada = await people.arrive("Ada")

    async def check(where: str) -> None:
        await look(ada, axe, f"{size}: {where}", faults)
        # A popup on the far side of a wide window stays visible when the window shrinks.
        if size == "narrow" or where == "the emoji picker":
            await fits(ada, where, faults, windows)

    await ada.resize(SIZES[size])
    await ada.page.get_by_label("Your name").wait_for()
    await check("the sign-up page")
    await ada.page.get_by_label("Your name").fill("Ada")
    await ada.press("Join")
    await expect(box(ada)).to_be_visible()
    await check("an empty channel")

    await look_at_a_channel(ada, check)
    await look_at_messages(ada, check)
    await look_at_colours(ada, faults)
    await look_at_writing(ada, check)
    await look_at_panels(ada, check)
    await look_at_an_invite(ada, check)
    await fill_the_lists(ada)
    await look_at_settings(ada, check)
    await look_at_a_call(ada, check)
    assert not faults, "\n".join(faults)


async def look_at_a_channel(ada: Person, check: Callable[[str], Awaitable[None]]) -> None:
    await write(ada, "Hello **all**, see https://example.org and `this`, ||hidden||")
    await write(ada, "# Title\n- one\n- two\n\n> quote\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```")
    await write(ada, "שלום")
    first = ada.page.locator(".message").first
    await press_at(first, "React")
    await check("a message with its actions")
    await ada.press("👍")
    await expect(first.locator(".reaction")).to_have_count(1)
    await check("a channel with messages")


async def look_at_panels(ada: Person, check: Callable[[str], Awaitable[None]]) -> None:
    """Check the panels next to the channel, the dialogs and, on a phone, the channel list."""
    asides = ["Members", "Search messages", "Pinned messages", "Followed threads", "Mentions"]
    for name in asides:
        await ada.show_aside(name)
        await expect(ada.page.locator(".aside-body")).to_be_visible()
        if name == "Search messages":
            await ada.page.get_by_role("searchbox").fill("hello")
            await ada.page.keyboard.press("Enter")
            await expect(ada.page.locator(".message-line")).to_be_visible()
        await check(name)
        await ada.page.locator(".aside-body").get_by_role("button", name="Close").click()

    opened: dict[str, Callable[[], Awaitable[None]]] = {
        "the switcher": lambda: ada.page.keyboard.press("Control+k"),
        "the shortcuts": lambda: ada.page.keyboard.press("Control+/"),
        "a profile": lambda: ada.page.locator(".author").first.click(),
    }
    for name, show in opened.items():
        await show()
        await expect(ada.page.get_by_role("dialog")).to_be_visible()
        await check(name)
        await close(ada)

    if (ada.page.viewport_size or WIDE)["width"] <= DRAWER_UP_TO:
        await ada.show_channels()
        await check("the list of channels")


async def look_at_a_call(ada: Person, check: Callable[[str], Awaitable[None]]) -> None:
    await ada.press("Join Voice with…")
    await expect(ada.page.get_by_role("dialog")).to_be_visible()
    await check("before a call")
    await ada.press("Join call")
    await ada.is_connected()
    await check("a call")
    await ada.page.emulate_media(forced_colors="active")
    await ada.page.wait_for_function(FRAMED, arg=True)
    await save_view(ada.page, "a-call-in-forced-colours")
    await ada.press("Mute")
    await ada.page.wait_for_function(FRAMED, arg=False)
    await ada.press("Unmute")
    await ada.page.emulate_media(forced_colors="none")
    await ada.press("More call options")
    await expect(ada.page.get_by_role("menu")).to_be_visible()
    await check("the menu of a call")
    labels = ada.page.locator(".menu button > span:not(.further)")
    starts = await labels.evaluate_all(STARTS)
    await ada.page.get_by_role("menuitem", name="Sharing options").click()
    await expect(ada.page.get_by_role("dialog")).to_be_visible()
    await check("the options of a shared screen")
    await close(ada)
    assert len(set(starts)) == 1, "the labels of a menu are aligned"


async def look_at_messages(ada: Person, check: Callable[[str], Awaitable[None]]) -> None:
    """Check a mention by another member, an image and a thread."""
    hook = await ask(ada, "POST", "/api/webhooks", {"name": "חדשות", "channel_id": "general"})
    mention = f"[Ada](mention:{await own_id(ada)}), look"
    await ask(ada, "POST", f"/api/webhooks/{hook['id']}/{hook['token']}", {"text": mention})
    await expect(message(ada, "@Ada, look")).to_be_visible()
    await ada.page.locator("#files").set_input_files(
        {"name": "רחב.png", "mimeType": "image/png", "buffer": encoded(scene(160, 90), "PNG")}
    )
    await expect(ada.page.locator(".upload-list [data-state=done]")).to_be_visible()
    await check("an attached file")
    await box(ada).press("Enter")
    picture = ada.page.locator(".message").get_by_role("link", name="רחב.webp")
    await picture.click()
    await expect(ada.page.locator(".lightbox")).to_be_visible()
    await check("the lightbox")
    await close(ada)
    await do(ada, "Hello all", "More")
    await check("the menu of a message")
    await ada.page.get_by_role("menuitem", name="Reply in thread").click()
    field = ada.page.get_by_role("textbox", name="Reply in thread")
    await field.fill("בצד")
    await field.press("Enter")
    await expect(ada.page.locator(".thread .message").filter(has_text="בצד")).to_be_visible()
    await check("a thread")
    await ada.page.locator(".thread").get_by_role("button", name="Close").click()


async def look_at_colours(ada: Person, faults: list[str]) -> None:
    """Check names in every hue on messages, in a mention and in the member list."""
    role = await ask(ada, "POST", "/api/roles", {"name": "Gardeners", "color": 0x2E7D32})
    await ask(ada, "PUT", f"/api/members/{await own_id(ada)}/roles/{role['id']}")
    await expect(ada.page.locator(".author.coloured").last).to_be_visible()
    await ada.show_aside("Members")
    await expect(ada.page.locator(".members .coloured")).to_be_visible()
    await until_still(ada.page)
    faults += await ada.page.evaluate(HUES)
    await ada.page.locator(".aside-body").get_by_role("button", name="Close").click()
    await expect(ada.page.locator(".aside-body")).to_have_count(0)
    faults += await ada.page.evaluate(HUES)


async def look_at_writing(ada: Person, check: Callable[[str], Awaitable[None]]) -> None:
    """Check a reply, completions, emoji, an edit and the dialog for jumping to a day."""
    await do(ada, "שלום", "Reply")
    for letters, offered in {"@a": "Ada", "#gen": "general", ":tad": ":tada:"}.items():
        await box(ada).fill("")
        await box(ada).press_sequentially(letters)
        await expect(ada.page.get_by_role("option", name=offered).first).to_be_visible()
        await check(f"a draft with the suggestion {offered}")
    await box(ada).fill("")
    await ada.press("Choose emoji")
    await expect(ada.page.get_by_role("gridcell").first).to_be_visible()
    await check("the emoji picker")
    await ada.page.keyboard.press("Escape")
    await do(ada, "שלום", "Edit")
    await expect(ada.page.get_by_role("textbox", name="Edit message")).to_be_focused()
    await check("an edited message")
    await ada.page.keyboard.press("Escape")
    await ada.page.locator(".day button").first.click()
    await expect(ada.page.get_by_role("dialog", name="Jump to date")).to_be_visible()
    await check("the jump to a date")
    await close(ada)


async def look_at_an_invite(ada: Person, check: Callable[[str], Awaitable[None]]) -> None:
    await ada.press("Invite people")
    await expect(ada.page.get_by_role("dialog")).to_be_visible()
    await check("a new invite")
    await ada.press("Create link")
    await expect(ada.page.get_by_role("img", name="QR code")).to_be_visible()
    await check("an invite")
    await close(ada)


async def fill_the_lists(ada: Person) -> None:
    """Add an entry to each list in the settings.

    The members who are reported, blocked and banned are bots.
    """
    words = "שלום לכולם"
    await ask(ada, "PATCH", "/api/settings", {"name": words, "description": words, "rules": words})
    await ask(ada, "POST", "/api/channels", {"name": words, "type": "text", "topic": words})
    await ask(ada, "POST", "/api/channels", {"name": words, "type": "category"})
    await ask(ada, "POST", "/api/roles", {"name": words, "color": 0x808080})
    rule = {"name": words, "kind": "words", "action": "flag", "words": [words], "enabled": True}
    await ask(ada, "POST", "/api/automod/rules", rule)
    ids = [
        (await ask(ada, "POST", "/api/bots", {"nickname": name}))["member"]["id"]
        for name in ("עמוק", "אליזה")
    ]
    await ask(ada, "POST", "/api/reports", {"text": words, "member_id": ids[0]})
    await ask(ada, "PUT", f"/api/me/blocks/{ids[0]}")
    await ask(ada, "PUT", f"/api/bans/{ids[1]}", {"reason": words})


async def look_at_settings(ada: Person, check: Callable[[str], Awaitable[None]]) -> None:
    await ada.press("Settings")
    await expect(ada.page.get_by_role("dialog", name="Settings")).to_be_visible()
    pages = ada.page.get_by_role("navigation", name="Settings pages").get_by_role("button")
    for number in range(await pages.count()):
        await pages.nth(number).click()
        await expect(ada.page.get_by_role("dialog").get_by_text("Loading…", exact=True)).to_have_count(0)
        # On a phone, the last button opens the list of all pages.
        name = await pages.nth(number).inner_text() or "all pages"
        if name == "Emoji":
            picture = {"name": "sun.png", "mimeType": "image/png", "buffer": encoded(scene(64, 64), "PNG")}
            await ada.page.get_by_label("Add emoji").last.set_input_files(picture)  # type: ignore[arg-type]
            await expect(ada.page.get_by_label("Name of sun")).to_be_visible()
        await check(f"settings, {name}")
    await close(ada)
