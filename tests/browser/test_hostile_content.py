"""Hostile messages, names and files cannot run code in the page or overflow their column."""

import json
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from playwright.async_api import Page, expect

from svc.chat import community
from svc.chat.pages.routes import WEB_FOLDER
from svc.tools.cluster_demo import free_ports
from tests.chat.chat_server import chat_server
from tests.kit.browser_users import People, Person, bare_chromium, people_at, until_still
from tests.kit.community import ask
from tests.kit.pictures import encoded, scene
from tests.kit.text_channels import box, entry, join_and_open, write

HOSTILE: dict[str, list[str]] = json.loads(
    (Path(__file__).parent.parent / "web" / "hostile.json").read_text(encoding="utf-8")
)
SIZES: dict[str, Any] = {"wide": {"width": 1280, "height": 800}, "narrow": {"width": 390, "height": 844}}
LONG = "W" * 250
# These are few enough to post all of them without reaching the rate limits.
STRANGE = [HOSTILE["names"][at][:32] for at in (2, 27, 29, 30)]
DROP = """(target, [names, picture]) => {
  const dataTransfer = new DataTransfer();
  for (const name of names) dataTransfer.items.add(new File(["x"], name));
  dataTransfer.items.add(new File([new Uint8Array(picture)], "wide.png", { type: "image/png" }));
  for (const kind of ["dragover", "drop"]) {
    target.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
  }
}"""
# Returns the elements that overflow their column, except inside elements that scroll or clip.
TOO_WIDE = """() => {
  const columns = ".messages-box, .sidebar, .aside, dialog[open], .composer, .head";
  const seen = (element) => element.checkVisibility({ visibilityProperty: true });
  const holds = (element, column) => {
    for (let up = element.parentElement; up && up !== column; up = up.parentElement) {
      if (getComputedStyle(up).overflowX !== "visible" || up.matches("[popover]")) return true;
    }
    return element.matches("[popover]");
  };
  const found = document.scrollingElement.scrollWidth > innerWidth ? ["the page moves sideways"] : [];
  for (const column of [...document.querySelectorAll(columns)].filter(seen)) {
    const { left, right } = column.getBoundingClientRect();
    for (const element of column.querySelectorAll("*")) {
      const box = element.getBoundingClientRect();
      const out = box.width > 1 && (box.right > right + 1 || box.left < left - 1);
      if (out && seen(element) && !holds(element, column)) {
        found.push(`${column.className}: ${element.outerHTML.slice(0, 100)}`);
      }
    }
  }
  return found;
}"""
# Returns right-to-left text in elements without automatic direction. Exceptions are the initials on an avatar
# and the options of lists rendered by the browser.
UNDIRECTED = r"""() => {
  const turned = /[\u0590-\u08ff]/;
  const asked = (element) => element.closest("[dir=auto], bdi, .avatar, option");
  const fields = [...document.querySelectorAll("input, textarea")];
  const found = fields.filter(({ value, dir }) => turned.test(value) && dir !== "auto");
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    if (turned.test(data) && !asked(parentElement)) found.push(parentElement);
  }
  return found.map((each) => `asks for no direction: ${each.outerHTML.slice(0, 200)}`);
}"""
# Content that a bug in the server could let into the page: a script, a handler and styles.
INLINE = """<script>window.ran = "script";</script>
<img id="injected" src="/nothing" onerror="window.ran = 'handler'" style="position: fixed">
<style>#page { display: none; }</style>"""
TOLD = """
window.refused = [];
addEventListener("securitypolicyviolation", ({ effectiveDirective: which }) => window.refused.push(which));
"""
# Creates content that a bug in the page could create from a string.
STRINGS = """() => {
  const [element, script] = [document.createElement("div"), document.createElement("script")];
  document.body.append(element);
  const attempts = {
    innerHTML: () => { element.innerHTML = "<img src=x onerror='window.ran = 1'>"; },
    insertAdjacentHTML: () => element.insertAdjacentHTML("beforeend", "<b>x</b>"),
    handler: () => element.setAttribute("onclick", "window.ran = 2"),
    document: () => document.write("<p>x</p>"),
    parser: () => new DOMParser().parseFromString("<p>x</p>", "text/html"),
    script: () => { script.text = "window.ran = 3"; },
    address: () => { script.src = "https://a.example/x.js"; },
    frame: () => { document.createElement("iframe").srcdoc = "<p>x</p>"; },
    policy: () => trustedTypes.createPolicy("own", { createHTML: (text) => text }),
  };
  const done = Object.entries(attempts).filter(([, attempt]) => {
    try { attempt(); } catch (error) { return !(error instanceof TypeError); }
    return true;
  });
  element.remove();
  return done.map(([name]) => name);
}"""
FOREIGN = ".messages :is(script, iframe, style, object, embed, form, math, base, link, svg:not(.icon))"


def card(number: int) -> dict[str, object]:
    names = HOSTILE["names"]
    return {
        "title": names[number] + LONG[:100],
        "url": 'https://a.example/"onmouseover=alert(1)/' + LONG,
        "description": HOSTILE["markdown"][number] + "\n\n" + HOSTILE["wide"][number],
        "author": {"name": LONG},
        "fields": [{"name": names[number], "value": LONG, "inline": bool(at % 2)} for at in range(4)],
        "footer": {"text": HOSTILE["markdown"][number] + LONG},
    }


@pytest.mark.timeout(300)
async def test_hostile_messages_and_names_neither_run_code_nor_break_the_page(people: People) -> None:
    ada, mallory = await people.arrive("Ada"), await people.arrive("W" * 32)
    await join_and_open(ada)
    dialogs: list[str] = []
    requests: list[str] = []
    ada.page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    ada.page.on("request", lambda request: requests.append(request.url))
    own = str(await ada.page.evaluate("() => location.origin"))

    await ask(ada, "POST", "/api/roles", {"name": "<b>R</b>" + "R" * 20, "color": 0xFF0000})
    topic = HOSTILE["markdown"][0] + LONG
    name = "<img src=x onerror=alert(1)>WWWW"
    general = (await ask(ada, "POST", "/api/channels", {"name": name, "type": "text", "topic": topic}))["id"]
    await ask(ada, "POST", "/api/channels", {"name": "V" * 32, "type": "voice"})
    hook = await ask(ada, "POST", "/api/webhooks", {"name": "<b>" + "H" * 60, "channel_id": general})
    cards = [card(number) for number in range(3)]
    url = f"/api/webhooks/{hook['id']}/{hook['token']}"
    await ask(ada, "POST", url, {"text": HOSTILE["markdown"][0], "display_name": "D" * 64, "cards": cards})
    # Each text with a code fence is a separate message, because the fence would affect the other texts.
    # Messages cannot contain NUL.
    apart = [text for text in HOSTILE["markdown"] if "```" in text]
    together = [text.replace("\x00", "") for text in HOSTILE["markdown"] if text not in apart]
    lines = ["\n\n".join(together)[:4000], *apart, *HOSTILE["wide"]]
    for text in [*lines, "\n".join(HOSTILE["addresses"]), "\n".join(HOSTILE["names"])]:
        await ask(ada, "POST", f"/api/channels/{general}/messages", {"text": text})

    await join_and_open(mallory)
    await entry(mallory, "<img").click()
    await expect(box(mallory)).to_be_enabled()
    picture = list(encoded(scene(1600, 900), "PNG"))
    for start in range(0, len(HOSTILE["file_names"]), 9):
        names = HOSTILE["file_names"][start : start + 9]
        await mallory.page.locator("#text").evaluate(DROP, [names, picture])
        files = mallory.page.locator(".upload-list [data-state=done]")
        await expect(files).to_have_count(len(names) + 1)
        await box(mallory).press("Enter")
        await expect(files).to_have_count(0)
    await write(mallory, "Files")
    await name_everything(ada)

    await entry(ada, "<img").click()
    await expect(ada.page.locator(".message").last).to_contain_text("Files")
    faults: list[str] = []
    for size, viewport in SIZES.items():
        await ada.resize(viewport)
        for where, show in views(ada.page, size).items():
            await show()
            await until_still(ada.page)
            wrong = [*await ada.page.evaluate(TOO_WIDE), *await ada.page.evaluate(UNDIRECTED)]
            faults += [f"{size}, {where}: {fault}" for fault in wrong]
            await ada.page.keyboard.press("Escape")
        assert await ada.page.locator(FOREIGN).count() == 0
    assert faults == [], "\n".join(faults)
    assert (
        dialogs,
        [request for request in requests if not request.startswith((own, "blob:", "data:"))],
    ) == ([], [])


async def name_everything(ada: Person) -> None:
    """Give hostile names to channels, roles and the members with these roles."""
    for short in STRANGE:
        await ask(ada, "POST", "/api/channels", {"name": short, "type": "text", "topic": short})
        role = (await ask(ada, "POST", "/api/roles", {"name": short, "color": 0xFF0000}))["id"]
        bot = (await ask(ada, "POST", "/api/bots", {"nickname": short}))["member"]["id"]
        await ask(ada, "PUT", f"/api/members/{bot}/roles/{role}")


async def test_content_injected_into_the_page_is_blocked(tmp_path: Path) -> None:
    web, data = tmp_path / "web", tmp_path / "data"
    shutil.copytree(WEB_FOLDER, web)
    index = web / "index.html"
    index.write_text(index.read_text().replace("</body>", f"{INLINE}</body>"))
    variables = {
        "PORT": str(free_ports(1)[0]),
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(data),
        "SVC_IDENTITY_TIERS": "local",
        "STORAGE_BACKEND": "filesystem",
        "ADDITIONAL_CHANNELS": "general",
    }
    with patch.object(community, "WEB_FOLDER", web):
        async with chat_server(variables):
            invite = (data / "invite-code").read_text().strip()
            url = f"http://127.0.0.1:{variables['PORT']}/#invite={invite}"
            async with people_at(url, bare_chromium() or "") as people:
                ada = await people.arrive("Ada", reads="general")
                await blocks_injected_content(ada)
                assert people.faults == []


async def blocks_injected_content(ada: Person) -> None:
    page = ada.page
    await page.add_init_script(TOLD)
    await page.reload()
    await expect(page.locator("#injected")).to_be_attached()
    await page.wait_for_function(
        "() => ['script-src-elem', 'script-src-attr', 'style-src-attr', 'style-src-elem']"
        ".every((each) => window.refused.includes(each))"
    )
    await expect(page.locator("#injected")).to_have_css("position", "static")
    assert await page.evaluate(STRINGS) == []
    assert await page.evaluate("window.ran") is None
    await write(ada, "It works on")


def views(page: Page, size: str) -> dict[str, Callable[[], Awaitable[object]]]:
    """Return a function for each view under test, which opens the view from the channel. Escape closes it."""

    async def pressed(name: str) -> None:
        await page.get_by_role("button", name=name, exact=True).first.click()

    async def members() -> None:
        await pressed("Members")
        await expect(page.get_by_role("list", name="Members").get_by_role("listitem").first).to_be_visible()

    async def searched() -> None:
        await pressed("Search messages")
        await page.get_by_role("searchbox").fill("onerror")
        await page.keyboard.press("Enter")
        await expect(page.locator(".message-line").first).to_be_visible()

    async def profile() -> None:
        await page.locator(".message:not(.follows) button.author").last.click()
        await expect(page.get_by_role("dialog")).to_be_visible()

    async def switcher() -> None:
        await page.keyboard.press("Control+k")
        await expect(page.get_by_role("dialog")).to_be_visible()

    async def drawer() -> None:
        if size == "narrow" and not await page.locator(".home[data-drawer=open]").count():
            await pressed("Show channels")
        await expect(page.locator("#channels")).to_be_visible()

    def settings(name: str) -> Callable[[], Awaitable[None]]:
        async def shown() -> None:
            await drawer()
            await pressed("Settings")
            pages = page.get_by_role("navigation", name="Settings pages")
            await pages.get_by_role("button", name=name, exact=True).click()
            await expect(page.locator(".settings-page li").first).to_be_visible()

        return shown

    return {
        "the newest": lambda: page.locator("#messages-box").evaluate("(box) => { box.scrollTop = 1e6; }"),
        "channel": lambda: page.locator("#messages-box").evaluate("(box) => { box.scrollTop = 0; }"),
        "members": members,
        "search": searched,
        "profile": profile,
        "switcher": switcher,
        "channels": drawer,
        **{
            f"settings, {name}": settings(name)
            for name in ("Channels", "Members", "Roles", "Bots", "Audit log")
        },
    }
