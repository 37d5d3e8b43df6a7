"""Corrupt or unavailable browser storage does not break the web client."""

import json
import os
import re
from pathlib import Path

from playwright.async_api import async_playwright, expect

from svc.chat.pages.routes import WEB_FOLDER
from tests.kit.browser_users import (
    DEADLINE_MS,
    FLAGS,
    NARROW,
    WIDE,
    WITHOUT_REAL_TIME,
    People,
    Person,
    chromium,
)
from tests.kit.svc_up import SvcUp
from tests.kit.text_channels import box, join_and_open, message, write

STORAGE_KEY = re.compile(r'= "(svc\.[\w-]+)"; *(?://.*)?$', re.MULTILINE)
# Values of the wrong type, and values of the right type with invalid contents.
SPOILT = ("{", "[5, null, {}]", '{"member": 5, "text": [], "sounds": null, "channelId": {}}')
SPOIL = """([names, value]) => {
  for (const name of names) for (const each of [localStorage, sessionStorage]) each.setItem(name, value);
}"""
# Chromium's setting to block all cookies, which also blocks local storage, IndexedDB, locks and caches.
REFUSES = {"profile": {"default_content_setting_values": {"cookies": 2}}}


def names() -> list[str]:
    keys = {name for path in WEB_FOLDER.rglob("*.js") for name in STORAGE_KEY.findall(path.read_text())}
    assert len(keys) > 10
    return sorted(keys)


async def test_no_stored_value_breaks_the_page(people: People) -> None:
    ada = await people.arrive("Ada")
    await join_and_open(ada)
    await write(ada, "Before")
    # At first, everything except the stored identity is corrupt. Then the identity is corrupt, too.
    others = [name for name in names() if name != "svc.identity"]
    for value, size in zip(SPOILT, (WIDE, NARROW, WIDE), strict=True):
        await ada.resize(size)
        await ada.page.evaluate(SPOIL, [others, value])
        await ada.page.reload()
        await expect(message(ada, "Before")).to_be_visible(timeout=DEADLINE_MS)
        await expect(box(ada)).to_be_enabled()
    await ada.resize(NARROW)
    await ada.page.evaluate(SPOIL, [names(), SPOILT[-1]])
    await ada.page.reload()
    # A member without account data still has the key and is recognised as the same person.
    await join_and_open(ada)
    await message(ada, "Before").hover()
    await expect(message(ada, "Before").get_by_role("button", name="Edit")).to_be_attached()


async def test_in_a_browser_without_storage_a_sign_in_lasts_until_the_page_is_closed(
    product: SvcUp, tmp_path: Path
) -> None:
    settings = tmp_path / "profile" / "Default" / "Preferences"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(REFUSES))
    environment: dict[str, str | float | bool] = {**os.environ, "CHROMIUM": chromium() or ""}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch_persistent_context(
            settings.parents[1], executable_path=WITHOUT_REAL_TIME, args=FLAGS, env=environment
        )
        try:
            ada = Person("Ada", await browser.new_page())
            await ada.page.goto(product.url)
            notice = ada.page.get_by_text("This browser doesn’t store data")
            await expect(notice).to_be_visible(timeout=DEADLINE_MS)
            await join_and_open(ada)
            for where, size in (("a computer", WIDE), ("a phone", NARROW)):
                await ada.resize(size)
                await write(ada, f"Here for a moment, on {where}")
                await expect(message(ada, where)).to_be_visible()
                await ada.show_channels()
                await ada.press("Settings")
                await expect(ada.page.get_by_role("dialog", name="Settings")).to_be_visible()
                await ada.page.keyboard.press("Escape")
                await expect(ada.page.get_by_role("dialog", name="Settings")).to_have_count(0)
            assert ada.faults == []
        finally:
            await browser.close()
