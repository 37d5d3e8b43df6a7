"""In rendered Markdown, spoilers can be opened, code is highlighted and can be copied, and hostile content
does not run.

tests/web tests the parser without a browser. See docs/http.md, "Messages".
"""

import json
from pathlib import Path
from typing import Literal

from playwright.async_api import expect

from tests.kit.browser_users import People, wide_only
from tests.kit.component_views import Bench, bench
from tests.kit.svc_up import SvcUp

HOSTILE: dict[str, list[str]] = json.loads(
    (Path(__file__).parent.parent / "web" / "hostile.json").read_text(encoding="utf-8")
)
# Returns the elements that overflow the column, except inside scrolling blocks.
TOO_WIDE = """() => {
  const column = document.querySelector("body > div").getBoundingClientRect();
  const moves = (element) => element.closest(".table, .code pre");
  const reachesOut = (element) => {
    const { left, right, width } = element.getBoundingClientRect();
    return width > 1 && (right > column.right + 1 || left < column.left - 1);
  };
  return [...document.querySelectorAll(".markdown, .markdown *")]
    .filter((element) => (!moves(element) || moves(element) === element) && reachesOut(element))
    .map((element) => element.outerHTML.slice(0, 80));
}"""
# Returns the lowest contrast of the code colours against their background.
MIN_CONTRAST = """() => {
  const numbers = (colour) => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (colour) => {
    const linear = (each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
    const [red, green, blue] = numbers(colour).map((each) => linear(each / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (...colours) => {
    const [dark, bright] = colours.map(light).sort((one, other) => one - other);
    return (bright + 0.05) / (dark + 0.05);
  };
  const behind = (element) => {
    const colour = getComputedStyle(element).backgroundColor;
    const isClear = colour === "rgba(0, 0, 0, 0)" && element !== document.body;
    return isClear ? behind(element.parentElement) : colour;
  };
  const all = [...document.querySelectorAll(".markdown *")];
  return Math.min(...all.map((element) => contrast(getComputedStyle(element).color, behind(element))));
}"""


async def show(on: Bench, text: str, *, width: int = 400, **context: object) -> None:
    maps = ("emoji", "roles", "channels")
    await on.put(
        "views/markdown/markdown.js", "Markdown", {"text": text, "context": context}, maps=maps, width=width
    )


@wide_only
async def test_code_is_highlighted_and_can_be_copied(people: People, product: SvcUp) -> None:
    on = await bench(people, product)
    fetched: list[str] = []
    on.page.on("request", lambda request: fetched.append(request.url.rsplit("/", 1)[-1]))
    # The highlighter is loaded when a code block names a language.
    await show(on, "`a` **b**\n```\nc\n```")
    await expect(on.page.locator(".code")).to_be_visible()
    assert "highlight.js" not in fetched
    await on.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    code = "const a = 1; // one\n\tb();"
    await show(on, f"```js\n{code}\n```")
    await expect(on.page.locator(".code-keyword")).to_have_text("const")
    assert fetched.count("highlight.js") == 2
    assert await on.page.locator("code").text_content() == code
    await on.page.locator(".code").hover()
    await on.page.get_by_role("button", name=await on.words("markdown-copy")).click()
    await expect(on.page.get_by_role("status")).to_have_text(await on.words("markdown-copied"))
    assert await on.page.evaluate("() => navigator.clipboard.readText()") == code


async def test_emoji_are_rendered_in_colour_regardless_of_the_font(people: People, product: SvcUp) -> None:
    """Check `font-variant-emoji` instead of pixels, because the test machine might not have an emoji font."""
    on = await bench(people, product)
    await show(on, "😄 **😄** `😄`\n```\n😄\n```")
    await on.page.evaluate("() => document.body.append(document.createElement('textarea'))")
    drawn = await on.page.evaluate(
        "() => [...document.querySelectorAll('.markdown, .markdown *, textarea')]"
        ".map((element) => getComputedStyle(element).fontVariantEmoji)"
    )
    assert len(drawn) > 5 and set(drawn) == {"unicode"}


@wide_only
async def test_spoilers_and_mentions_can_be_opened_by_keyboard(people: People, product: SvcUp) -> None:
    on = await bench(people, product)
    await show(on, "The murderer is ||the [gardener](https://a.example)||.")
    button = on.page.get_by_role("button", name=await on.words("markdown-spoiler"))
    await expect(button).to_have_attribute("aria-expanded", "false")
    # Screen readers do not announce a spoiler's content until the spoiler is opened, either.
    tree = await on.page.locator(".markdown").aria_snapshot()
    assert "gardener" not in tree
    await expect(on.page.get_by_text("gardener")).to_be_hidden()
    await button.focus()
    await on.page.keyboard.press("Enter")
    await expect(on.page.get_by_role("link", name="gardener")).to_be_visible()
    await expect(on.page.locator(".spoiler.open")).to_be_focused()

    context = {"ownId": "me", "channels": [["c1", {"name": "general"}]]}
    properties = {"text": "[Ada](mention:a1) [x](channel:c1)", "context": context}
    await on.put(
        "views/markdown/markdown.js",
        "Markdown",
        properties,
        maps=("channels",),
        callbacks=("onMention", "onChannel"),
    )
    await on.page.get_by_role("button", name="@Ada").click()
    await on.page.get_by_role("button", name="#general").press("Enter")
    assert await on.calls() == [["onMention", "a1"], ["onChannel", "c1"]]


async def test_hostile_markdown_neither_runs_code_nor_loads_anything(people: People, product: SvcUp) -> None:
    on = await bench(people, product)
    requests: list[str] = []
    dialogs: list[str] = []
    on.page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    own = await on.page.evaluate("() => location.origin")
    on.page.on("request", lambda request: requests.append(request.url))
    elements = on.page.locator("body > div :is(img, script, svg, math, iframe, style, object, form, input)")
    for key in ("markdown", "addresses", "names", "file_names", "wide"):
        for text in ["\n\n".join(HOSTILE[key]), *HOSTILE[key]]:
            await show(on, text)
            assert await elements.count() == 0, text
    assert (dialogs, [url for url in requests if not url.startswith(own)]) == ([], [])


async def test_markdown_is_never_wider_than_its_column(people: People, product: SvcUp) -> None:
    on = await bench(people, product)
    for width in (390, 1000):
        for text in [*HOSTILE["wide"], *HOSTILE["names"], "\n\n".join(HOSTILE["markdown"])]:
            await show(on, text, width=width)
            assert await on.page.evaluate(TOO_WIDE) == [], text


async def test_markdown_is_readable_in_the_light_and_the_dark_theme(people: People, product: SvcUp) -> None:
    on = await bench(people, product)
    code = "```js\n// a\nclass A extends B { f(x) { return `a${1}` + 'b' + /c/u + null; } }\n```\n"
    code += "```html\n<p class='a'>b</p>\n```"
    mentions = "[a](mention:me) [b](mention:you) [c](role:r) [d](role:s) [e](role:gone)"
    roles = [["r", {"name": "r", "color": "#ffff00"}], ["s", {"name": "s", "color": "#0000ff"}]]
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        await on.page.emulate_media(color_scheme=scheme)
        text = f"{code}\n\n{mentions} [x](https://a.example) `y`\n|a|\n|-|\n|b|"
        await show(on, text, ownId="me", roles=roles)
        await expect(on.page.locator(".code-keyword").first).to_be_visible()
        assert await on.page.evaluate(MIN_CONTRAST) >= 4.5, scheme
