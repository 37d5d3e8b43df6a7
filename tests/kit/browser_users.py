"""Runs test users in a real browser. Each user opens the page, presses its buttons and reads its text.

Chromium simulates the camera, the microphone and the screen.
"""

import json
import os
import shutil
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs

import pytest
from aiohttp import ClientSession
from playwright.async_api import (
    Browser,
    Error,
    Locator,
    Page,
    Playwright,
    ViewportSize,
    async_playwright,
    expect,
)

from tests.kit.device import Device
from tests.kit.page_relay import put_behind
from tests.kit.page_statistics import Watcher
from tests.kit.relay import Relay
from tests.kit.simulated_microphone import BEEPS, UNFILTERED
from tests.kit.wait import wait_until

WITHOUT_REAL_TIME = Path(__file__).with_name("chromium.sh")
INSECURE_HOST = "plain.example"
DEVICE_NAME = "Chrome on Linux"  # The page's name for this browser.
# A simulated camera shares three buffers among all pages. With more pages, all buffers can be in use at the
# same time, and the camera stops. Cameras 1 and 2 are not used, because their frames are grey or JPEG.
CAMERAS, PAGES_PER_CAMERA = (0, 3, 4), 2
# No GPU, no network traffic from the browser itself, and simulated media devices without permission prompts.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--use-fake-device-for-media-stream=device-count={CAMERAS[-1] + 1},fps=30,display-media-type=browser",
    "--use-fake-ui-for-media-stream",
    f"--use-file-for-fake-audio-capture={BEEPS}",
    "--allow-loopback-in-peer-connection",
    # Without this flag, a reloaded page could not always play audio before the first click.
    "--autoplay-policy=no-user-gesture-required",
    # Pages in the background must keep decoding and playing at full speed.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    # A host name for this machine that browsers do not treat as a secure origin.
    f"--host-resolver-rules=MAP {INSECURE_HOST} 127.0.0.1",
)
# The window is small, because rendering a large window uses two more cores than decoding.
VIEWPORT = ViewportSize(width=700, height=420)
# A computer and a phone. A test runs at both sizes only if the layout affects the result, because a page
# takes seconds of CPU time and everything else behaves the same at any width.
WIDE, NARROW = ViewportSize(width=1280, height=800), ViewportSize(width=390, height=780)
UNDER_A_KEYBOARD = ViewportSize(width=360, height=320)  # A small phone with an open on-screen keyboard.
SELDOM = pytest.param(NARROW, marks=pytest.mark.nightly("the wide window runs daily"))
both_widths = pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"], indirect=True)
wide_daily = pytest.mark.parametrize("viewport", [WIDE, SELDOM], ids=["wide", "narrow"], indirect=True)
wide_only = pytest.mark.parametrize("viewport", [WIDE], ids=["wide"], indirect=True)
narrow_only = pytest.mark.parametrize("viewport", [NARROW], ids=["narrow"], indirect=True)
IN_HEADER_MENU = {"Pinned messages", "Followed threads", "Notifications"}
DRAWER_UP_TO = 640  # Up to this width, the channels are in a drawer, as in views/parts/menu.js.
JOIN_DEADLINE_S = 60.0
OPENING_ATTEMPTS = 4
# Time limit for anything that must appear. Tests check only whether it appears, because CI machines are busy.
DEADLINE_MS = 60_000
expect.set_options(timeout=DEADLINE_MS)

# Transitions may take a while on a busy machine. Endless animations are ignored.
UNTIL_STILL = """async () => {
  const ends = ({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime);
  const moving = () => document.getAnimations().filter((each) => each.playState === "running" && ends(each));
  while (moving().length) await Promise.allSettled(moving().map(({ finished }) => finished));
}"""

CAPTURE_SCRIPT = """
const size = %s, camera = %d;
const own = async () => {
  const devices = camera ? await navigator.mediaDevices.enumerateDevices() : [];
  const { deviceId } = devices.filter(({ kind }) => kind === "videoinput")[camera] ?? {};
  return deviceId && { exact: deviceId };
};
// Tests that measure received media need full quality, even on a busy machine.
// The browser's own pages, such as certificate warnings, have no storage.
if (/^https?:/.test(location.protocol) && self.origin !== "null")
  localStorage["svc.callSettings"] ??= JSON.stringify({ quality: "high" });
for (const name of navigator.mediaDevices ? ["getUserMedia", "getDisplayMedia"] : []) {
  const open = navigator.mediaDevices[name].bind(navigator.mediaDevices);
  navigator.mediaDevices[name] = async ({ video, ...constraints }) => {
    const deviceId = video?.deviceId ?? (video && name === "getUserMedia" ? await own() : undefined);
    return open({ ...constraints, video: video && { ...(deviceId && { deviceId }), ...size } });
  };
}
"""
# Store a member and the key of the member's device before the page's scripts are fetched. This happens only
# on the first visit, because a reload must find the data that the page has stored since.
ENTRANCE = "#entrance"
ENTERED = """if (location.hash.startsWith("%s")) {
  const { d, ...open } = %s, curve = { name: "ECDSA", namedCurve: "P-256" };
  for (const [name, value] of Object.entries(%s)) localStorage[name] = value;
  const parameters = location.hash.split("&").slice(1).join("&");
  history.replaceState(null, "", location.pathname + (parameters && `#${parameters}`));
  self.entered = new Promise((done, fail) => {
    const opening = indexedDB.open("svc", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("keys");
    opening.onerror = fail;
    opening.onsuccess = async () => {
      const publicKey = await crypto.subtle.importKey("jwk", open, curve, true, ["verify"]);
      const privateKey = await crypto.subtle.importKey("jwk", { ...open, d }, curve, false, ["sign"]);
      const change = opening.result.transaction("keys", "readwrite");
      change.objectStore("keys").put({ privateKey, publicKey }, "device");
      change.oncomplete = () => { opening.result.close(); done(); };
    };
  });
}"""
# Suppresses the greeting for new members and the offer after their first message.
SETTLED = """if (/^https?:/.test(location.protocol) && self.origin !== "null")
  localStorage["svc.newcomer"] ??= "";"""


@dataclass(frozen=True, slots=True)
class Capture:
    """The format of the simulated camera and screen."""

    width: int = 320
    height: int = 240
    frame_rate: int = 15

    def script(self, camera: int = 0) -> str:
        """Return the script that gives a page this simulated camera."""
        size = {"width": self.width, "height": self.height, "frameRate": self.frame_rate}
        return CAPTURE_SCRIPT % (json.dumps(size), camera)


async def opened(page: Page, url: str) -> None:
    """Open a URL, with retries, because a network that is being set up can interrupt page loads."""
    for attempt in range(1, OPENING_ATTEMPTS + 1):
        try:
            await page.goto(url)
            return
        except Error as error:
            if "ERR_NETWORK_CHANGED" not in error.message or attempt == OPENING_ATTEMPTS:
                raise


async def until_still(page: Page) -> None:
    """Wait until every transition and animation has finished."""
    await page.evaluate(UNTIL_STILL)


async def until_touch_is_handled(page: Page) -> None:
    """Wait until the page handles swipes and long presses. It begins to do so some time after it starts."""
    session = await page.context.new_cdp_session(page)

    async def listens() -> bool:
        document = await session.send("Runtime.evaluate", {"expression": "document"})
        found = await session.send(
            "DOMDebugger.getEventListeners", {"objectId": document["result"]["objectId"]}
        )
        return any(listener["type"] == "touchstart" for listener in found["listeners"])

    await wait_until("the page handles touch events", listens, within_s=15)


LAID_OUT = """async ({ width, height }) => {
  const frame = () => new Promise(requestAnimationFrame);
  while (!matchMedia(`(width: ${width}px) and (height: ${height}px)`).matches) await frame();
  await frame();  // The page is notified of the size before this frame,
  await frame();  // and its changes are visible in the next frame.
}"""


class Person(Watcher):
    """A test user with a page open. `faults` collects the page's uncaught errors."""

    def __init__(self, name: str, page: Page) -> None:
        super().__init__(name, page.evaluate)
        self.page, self.is_member = page, False
        self.faults: list[str] = []
        page.on("pageerror", lambda error: self.faults.append(f"{name}: {error.stack or error}"))

    async def resize(self, size: ViewportSize) -> None:
        """Resize the window and wait until the page has its layout for this size."""
        await self.page.set_viewport_size(size)
        await self.page.evaluate(LAID_OUT, size)

    async def press(self, label: str) -> None:
        await self.page.get_by_role("button", name=label, exact=True).click()

    async def show_aside(self, name: str) -> None:
        """Open a panel next to the channel with its button, or from the menu in the channel's header."""
        if name in IN_HEADER_MENU:
            await self.press("More channel options")
            await self.page.get_by_role("menuitem", name=name, exact=True).click()
        else:
            await self.press(name)

    async def come_in(self) -> None:
        """Join the community with the sign-in form, unless the person arrived as a member."""
        if not self.is_member:
            await self.page.get_by_label("Your name").fill(self.name)
            await self.press("Join")
        await expect(self.page.locator("#channels")).to_be_attached(timeout=JOIN_DEADLINE_S * 1000)

    async def show_channels(self) -> None:
        """Open the drawer with the channels, if this layout has one, and close a panel that covers them."""
        if await self.page.evaluate("innerWidth <= 960 && !!document.querySelector('.aside')"):
            await self.page.locator(".aside").get_by_role("button", name="Close", exact=True).click()
        has_drawer = await self.page.evaluate("document.documentElement.classList.contains('handheld')")
        if has_drawer and await self.page.locator(".home[data-drawer=open]").count() == 0:
            await self.press("Show channels")
        await expect(self.page.locator("#channels")).to_be_visible()

    async def hide_channels(self) -> None:
        """Close the drawer if it is open."""
        if await (drawer := self.page.locator(".home[data-drawer=open]")).count():
            await self.page.keyboard.press("Escape")
        await expect(drawer).to_have_count(0)

    async def join(self, *, camera: bool = True, microphone: bool = True) -> None:
        """Join the community, and then the call in the first voice channel."""
        await self.come_in()
        await self.enter_call(camera=camera, microphone=microphone)

    async def enter_call(self, *, camera: bool = False, microphone: bool = True) -> None:
        await self.show_channels()
        if microphone:
            await self.page.locator("#voice-channels .channel").first.click()
        else:
            await self.press("Join Voice with…")
            await self.page.get_by_role("switch", name="Microphone").uncheck()
            await self.press("Join call")
        if camera:
            await self.press("Start camera")
        await self.is_connected()

    async def is_connected(self, *, within_s: float = JOIN_DEADLINE_S) -> None:
        await expect(self.page.locator("#call-state")).to_have_text("Connected", timeout=within_s * 1000)

    async def shown_people(self) -> list[str]:
        """Return the names on the stage. The user's own name is included, but without its marker."""
        names = await self.page.locator("#people .name").all_text_contents()
        return sorted(name.removesuffix(" (you)") for name in names)

    async def shown_speakers(self) -> list[str]:
        """Return the names of the highlighted speakers, including the user's own."""
        names = await self.page.locator("#people > .speaking .name").all_text_contents()
        return sorted(name.removesuffix(" (you)") for name in names)

    async def set_layer(self, other: Watcher, layer: int) -> None:
        """Receive a person's camera only up to this temporal layer, or all layers if `layer` is -1."""
        track_id = (await self.statistics()).track(other.name).track_id
        await self.page.evaluate("(args) => svc.call.setLayer(...args)", [track_id, layer])

    def camera_of(self, name: str) -> Locator:
        """Return the tile that shows a person's camera."""
        return self.page.locator("#people > li.with-video").filter(
            has=self.page.get_by_text(name, exact=True)
        )


class Absentee(Person):
    """A member who has no page open and only sends requests, which takes hardly any CPU time."""

    def __init__(self, name: str, address: str, identity: dict[str, Any]) -> None:
        self.name, self.faults = name, []
        self._address, self._identity = address, identity

    @property
    def id(self) -> str:
        return str(self._identity["member"]["id"])

    async def request(self, method: str, path: str, body: object) -> tuple[int, Any]:
        """Return the status and the body of the server's response."""
        headers = {"Authorization": f"Bearer {self._identity['access_token']}"}
        async with (
            ClientSession(self._address, headers=headers) as http,
            http.request(method, path, json=body) as response,
        ):
            return response.status, None if response.status == 204 else await response.json()


class People:
    """The pages in one browser, each with its own storage for a different person.

    Without `service_worker`, no page installs its service worker, which would fetch every file again for its
    cache and take a fifth of a page's CPU time. `still` pages leave the microphone unprocessed and show no
    animations, because animating the rings around speakers takes half of a call's CPU time. `members` have
    joined before they arrive, which takes a quarter less CPU time than the form does.
    """

    def __init__(
        self,
        browser: Browser,
        url: str,
        viewport: ViewportSize = VIEWPORT,
        *,
        service_worker: bool = True,
        still: bool = False,
        members: bool = False,
    ) -> None:
        self._browser = browser
        self._url = url
        self._viewport = viewport
        self._members = members
        self._service_workers: Literal["allow", "block"] = "allow" if service_worker else "block"
        self._motion: Literal["reduce", "no-preference"] = "reduce" if still else "no-preference"
        self._all: list[Person] = []

    async def arrive(
        self,
        name: str,
        *,
        codec: str = "",
        capture: Capture | None = None,
        link: Relay | None = None,
        touch: bool = False,
        locale: str | None = None,
        greeted: bool = True,
        reads: str = "",
        url: str = "",
    ) -> Person:
        """Open the page at the sign-in form, or in the community if people arrive as members.

        The form opens at `url`, or with the printed invite. If `reads` names a text channel, the person is
        already a member, and the page opens that channel. All media passes through `link` if it is given.
        `codec` is the codec for sent video; by default, the page chooses. With `touch`, touch is the only
        input. `locale` is the browser's language. The page greets a new member only if `greeted` is set.
        """
        context = await self._browser.new_context(
            viewport=self._viewport,
            has_touch=touch,
            is_mobile=touch,
            locale=locale,
            service_workers=self._service_workers,
            reduced_motion=self._motion,
        )
        context.set_default_timeout(DEADLINE_MS)
        camera = CAMERAS[len(self._all) // PAGES_PER_CAMERA % len(CAMERAS)]
        script = (UNFILTERED if self._motion == "reduce" else "") + (capture or Capture()).script(camera)
        await context.add_init_script(script)
        if greeted:
            await context.add_init_script(SETTLED)
        person = Person(name, await context.new_page())
        self._all.append(person)
        if link:
            await put_behind(link, person.page)
        parameters = f"&codec={codec}" if codec else ""
        if reads or self._members:
            stored = await entered(device := Device(), self._url, name, reads)
            key = json.dumps(device.private_jwk)
            await context.add_init_script(ENTERED % (ENTRANCE, key, json.dumps(stored)))
            await opened(person.page, self._url.partition("#")[0] + ENTRANCE + parameters)
            await person.page.evaluate("entered")
            person.is_member = self._members
        else:
            await opened(person.page, (url or self._url) + parameters)
        if reads:
            await expect(person.page.locator("#draft")).to_be_enabled()
        return person

    async def join(self, name: str) -> Absentee:
        """Have a person join without opening a page."""
        address = self._url.partition("#")[0].rstrip("/")
        return Absentee(name, address, await joined(Device(), self._url, name))

    async def leave(self) -> None:
        """Close every page and delete its storage."""
        for person in self._all:
            await person.page.context.close()

    @property
    def latest(self) -> Person:
        """Return the person who most recently joined or tried to join."""
        return self._all[-1]

    @property
    def faults(self) -> list[str]:
        return [fault for person in self._all for fault in person.faults]


async def entered(device: Device, url: str, name: str, channel_id: str) -> dict[str, str]:
    """Join with an invite link. Return the values that a page stores for the member."""
    answer = await joined(device, url, name)
    good_until = time.time() * 1000 + answer.pop("expires_in_ms")
    identity = answer | {"proof": {"way": "local"}, "fresh_until": good_until, "good_until": good_until}
    return {"svc.identity": json.dumps(identity)} | ({"svc.place": channel_id} if channel_id else {})


async def joined(device: Device, url: str, name: str) -> dict[str, Any]:
    """Join with an invite link. Return the server's response."""
    address, _, fragment = url.partition("#")
    address = address.rstrip("/")
    async with ClientSession() as http:
        body = await device.proof(http, address)
        body |= {"nickname": name, "invite_code": parse_qs(fragment)["invite"][0], "device_name": DEVICE_NAME}
        async with http.post(f"{address}/api/auth/join", json=body) as response:
            answer: dict[str, Any] = await response.json()
            assert response.status == 200, answer
            return answer


def chromium() -> str | None:
    """Return the path of this system's Chromium."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def bare_chromium() -> str | None:
    """Return the path of a Chromium without windows, settings and push messages, which takes half the CPU
    time.

    It does not support the flag that makes an insecure origin secure.
    """
    return shutil.which("chromium-headless-shell") or chromium()


class SharedBrowsers:
    """One browser of each kind for many tests, started on first use.

    Storage, permissions and downloads belong to contexts, which end with the test.
    """

    def __init__(self, playwright: Playwright) -> None:
        self._playwright = playwright
        self._running: dict[tuple[str, tuple[str, ...]], Browser] = {}

    @asynccontextmanager
    async def people_at(
        self,
        url: str,
        executable: str,
        *,
        flags: tuple[str, ...] = FLAGS,
        viewport: ViewportSize = VIEWPORT,
        service_worker: bool = True,
        still: bool = False,
        members: bool = False,
    ) -> AsyncIterator[People]:
        browser = self._running.get((executable, flags))
        # If the browser crashed in an earlier test, it is replaced.
        if browser is None or not browser.is_connected():
            browser = await started(self._playwright, executable, flags)
            self._running[executable, flags] = browser
        people = People(browser, url, viewport, service_worker=service_worker, still=still, members=members)
        try:
            yield people
        finally:
            await people.leave()


@asynccontextmanager
async def shared_browsers() -> AsyncIterator[SharedBrowsers]:
    async with async_playwright() as playwright:
        yield SharedBrowsers(playwright)


@asynccontextmanager
async def people_at(
    url: str,
    executable: str,
    *,
    flags: Sequence[str] = FLAGS,
    inside: Sequence[str] = (),
    viewport: ViewportSize = VIEWPORT,
    service_worker: bool = True,
    still: bool = False,
) -> AsyncIterator[People]:
    """Run a browser in which several test users can open pages.

    `inside` is a command prefix that runs it in another namespace.
    """
    async with async_playwright() as playwright:
        browser = await started(playwright, executable, flags, inside)
        try:
            yield People(browser, url, viewport, service_worker=service_worker, still=still)
        finally:
            await browser.close()


async def started(
    playwright: Playwright, executable: str, flags: Sequence[str] = FLAGS, inside: Sequence[str] = ()
) -> Browser:
    environment: dict[str, str | float | bool] = {**os.environ, "CHROMIUM": executable}
    environment["INSIDE"] = " ".join(inside)
    return await playwright.chromium.launch(executable_path=WITHOUT_REAL_TIME, args=flags, env=environment)
