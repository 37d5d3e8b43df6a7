"""Delivers Web Push to a page in Chromium, without Chromium's push service on the internet.

The test provides the subscription and its keys. The browser passes each push message to the page's own
service worker.
"""

import asyncio
import json

from playwright.async_api import Page

from tests.chat.push.service import Browser

REGISTERED_WITHIN_S = 30.0
# The browser's side of a subscription. As in real browsers, the subscription remains when the page is closed.
STAND_IN = """
(() => {
  const device = %s;
  const read = () => JSON.parse(localStorage.getItem("test.push"));
  const bytes = (text) => Uint8Array.from(text);
  function subscription({ key, turn }) {
    const endpoint = device.endpoint + (turn > 1 ? `-${turn}` : "");
    return {
      endpoint,
      options: { applicationServerKey: bytes(key).buffer },
      toJSON: () => ({ endpoint, keys: device.keys }),
      unsubscribe: async () => {
        localStorage.setItem("test.push", JSON.stringify({ turn, key: null }));
        return true;
      },
    };
  }
  PushManager.prototype.getSubscription = async () => (read()?.key ? subscription(read()) : null);
  PushManager.prototype.subscribe = async ({ applicationServerKey, userVisibleOnly }) => {
    if (!userVisibleOnly) throw new DOMException("", "NotAllowedError");
    const made = { key: [...applicationServerKey], turn: (read()?.turn ?? 0) + 1 };
    localStorage.setItem("test.push", JSON.stringify(made));
    return subscription(made);
  };
})();
"""


async def can_subscribe(page: Page, browser: Browser) -> None:
    """Make the page use this device's subscription the next time it loads."""
    await page.add_init_script(STAND_IN % json.dumps(browser.subscription()))


class Deliverer:
    """A push service that delivers push messages to a page's service worker."""

    def __init__(self, page: Page) -> None:
        self._page = page

    async def deliver(self, content: object) -> None:
        session = await self._page.context.new_cdp_session(self._page)
        registered: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def updated(event: dict[str, list[dict[str, str]]]) -> None:
            for registration in event["registrations"]:
                if not registered.done():
                    registered.set_result(registration["registrationId"])

        session.on("ServiceWorker.workerRegistrationUpdated", updated)
        await session.send("ServiceWorker.enable")
        origin = await self._page.evaluate("location.origin")
        async with asyncio.timeout(REGISTERED_WITHIN_S):
            registration = await registered
        await session.send(
            "ServiceWorker.deliverPushMessage",
            {"origin": origin, "registrationId": registration, "data": json.dumps(content)},
        )
        await session.detach()
