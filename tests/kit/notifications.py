"""Checks the web client's sounds and system notifications, and moves focus to and from its page."""

from typing import Any

from playwright.async_api import Page, expect

from tests.kit.browser_users import Person
from tests.kit.community import own_id, post
from tests.kit.text_channels import entry

# Replaces audio output. Records the first frequency of each chime that the page plays, in order.
HEAR = """
window.tones = [];
const start = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (when) {
  window.tones.push(Math.round(this.frequency.value));
  return start.call(this, when);
};
"""
TONES = {
    "message": [587],
    "mention": [659, 880],
    "join": [440, 587],
    "leave": [587, 440],
    "mute": [392],
    "unmute": [523],
}
OWN_ID = "() => JSON.parse(localStorage.getItem('svc.identity')).member.id"
# Takes the same lock as the page, because Chromium omits a notification that is being shown while the list is
# read.
SHOWN = """async () => {
  const { ready } = navigator.serviceWorker;
  const notices = await navigator.locks.request("svc.notices", async () => (await ready).getNotifications());
  return notices.map(({ title, body, data }) => ({ title, body, ...data }));
}"""
CLICK = """async (text) => {
  const notification = (await registration.getNotifications()).find(({ body }) => body === text);
  dispatchEvent(new NotificationEvent("notificationclick", { notification }));
}"""


async def listen(person: Person) -> None:
    """Record the tones that the page plays. Reload the page, so that the recording takes effect."""
    await person.page.add_init_script(HEAR)
    await person.page.reload()


async def sounds(person: Person) -> list[int]:
    """Return the tones played since the last call to this function and clear the list."""
    tones: list[int] = await person.page.evaluate("() => window.tones.splice(0)")
    return tones


async def hears(person: Person, sound: str) -> bool:
    """Return whether the given sound has been played since the last check. Fails if any other sound was
    played.
    """
    tones = await sounds(person)
    assert tones in ([], TONES[sound])
    return bool(tones)


async def wait_until_silent(person: Person) -> None:
    """Wait until the last sound has ended. Until then, the page plays no sound of the same kind."""
    await person.page.wait_for_function(
        "(since) => performance.now() > since + 500", arg=await person.page.evaluate("performance.now()")
    )


async def look_away(person: Person) -> None:
    """Move focus from the page to another window."""
    await person.page.evaluate("() => { document.hasFocus = () => false; dispatchEvent(new Event('blur')); }")


async def look_back(person: Person) -> None:
    await person.page.evaluate("() => { delete document.hasFocus; dispatchEvent(new Event('focus')); }")


async def notices(page: Page) -> list[dict[str, Any]]:
    """Return the notifications that the system shows for the page."""
    shown: list[dict[str, Any]] = await page.evaluate(SHOWN)
    return shown


async def click_notice(person: Person, text: str) -> None:
    """Click the system notification with this text, by sending its event to the service worker."""
    [worker] = person.page.context.service_workers
    await worker.evaluate(CLICK, text)


async def choose(person: Person, channel: str, item: str) -> None:
    """Choose an item in the notification menu of a channel."""
    await person.show_channels()
    await entry(person, channel).click(button="right")
    await person.page.get_by_role("menuitem", name="Notifications").click()
    await person.page.get_by_role("menu").get_by_text(item, exact=True).click()
    await expect(person.page.get_by_role("menu")).to_have_count(0)


async def open_settings(person: Person, page: str = "Notifications") -> None:
    await person.show_channels()
    await person.press("Settings")
    await person.page.get_by_role("dialog").get_by_role("button", name=page, exact=True).click()


async def want_notices(person: Person) -> None:
    """Enable notifications in the settings.

    The browser asks for permission before the page stores the setting.
    """
    await open_settings(person)
    await person.page.get_by_role("switch", name="Show notifications while this page is open").check()
    await person.page.wait_for_function(
        "() => JSON.parse(localStorage.getItem('svc.alerts') ?? '{}').notices === true"
    )
    await person.page.keyboard.press("Escape")


async def mention(person: Person, other: Person, text: str, channel_id: str = "general") -> None:
    """Post a message that mentions another member."""
    await post(person, f"[{other.name}](mention:{await own_id(other)}) {text}", channel_id)
