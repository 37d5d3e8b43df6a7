"""Runs Firefox for test users, and controls it over WebDriver BiDi without a driver program.

Firefox simulates the camera and microphone. The module implements only the commands that tests need: opening
pages and running functions in them.
"""

import asyncio
import json
import re
import shutil
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse, TCPConnector
from playwright.async_api import ViewportSize

from tests.kit.external_programs import required
from tests.kit.page_statistics import Watcher
from tests.kit.simulated_microphone import UNFILTERED
from tests.kit.wait import wait_until

START_DEADLINE_S = 30.0
STOP_DEADLINE_S = 30.0
# The time limit for a script, which may have to wait for a result in the page.
COMMAND_DEADLINE_S = 120.0
JOIN_DEADLINE_S = 60.0
# Simulated media without a prompt, loopback candidates, and no background downloads.
PREFERENCES = {
    "app.update.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.update.enabled": False,
    "media.autoplay.default": 0,
    "media.gmp-manager.updateEnabled": False,
    "media.navigator.permission.disabled": True,
    "media.navigator.streams.fake": True,
    "media.peerconnection.ice.loopback": True,
    "media.peerconnection.ice.obfuscate_host_addresses": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "ui.prefersReducedMotion": 1,  # Animations take a lot of CPU time, as in `browser_users`.
}
# Requests high quality and an unfiltered microphone, as in `browser_users`. With automatic quality, a busy
# machine would look like a slow link, but tests need all frames.
WANTS_EVERYTHING = f"() => {{ {UNFILTERED} }}"
JOIN_SCRIPT = """
async () => {
  const there = async (selector) => {
    while (!document.querySelector(selector)) await new Promise((again) => setTimeout(again, 50));
    return document.querySelector(selector);
  };
  const name = await there("input[name=name]");
  name.value = %s;
  name.dispatchEvent(new Event("input", { bubbles: true }));
  name.form.requestSubmit();
  (await there("#voice-channels .channel")).click();
  if (%s) (await there("#camera")).click();
}
"""


# Helpers that find elements by their text. `there` waits until `find` returns an element. Its error names the
# missing element.
HANDS = """
const there = async (find, awaited = find) => {
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    const found = find();
    if (found) return found;
    await new Promise((again) => setTimeout(again, 50));
  }
  throw new Error(`never came: ${awaited}; the page shows: ${document.body.innerText}`);
};
const one = (selector) => there(() => document.querySelector(selector), selector);
const called = (name) => (each) => (each.getAttribute("aria-label") ?? each.textContent).trim() === name;
const press = async (name, within = "body") => (
  (await there(() => [...document.querySelectorAll(`${within} button`)].find(called(name)), name)).click());
const says = (words) => (each) => each.querySelector(".text")?.textContent.includes(words);
const message = (words) => (
  there(() => [...document.querySelectorAll(".message:not(.pending)")].find(says(words)), words));
// Move the pointer onto a message, so that its buttons are rendered, and mark the message.
const pointAt = async (words) => {
  const found = await message(words);
  found.dataset.here = "";
  found.dispatchEvent(new PointerEvent("pointermove"));
};
const fill = (field, words) => {
  field.value = words;
  field.dispatchEvent(new Event("input", { bubbles: true }));
};
const strike = (key, field) => field.dispatchEvent(
  new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const enter = (field) => strike("Enter", field);
"""


class FirefoxPerson(Watcher):
    def __init__(
        self,
        name: str,
        evaluate: Callable[[str], Awaitable[Any]],
        reload: Callable[[], Awaitable[object]],
    ) -> None:
        super().__init__(name, evaluate)
        self.reload = reload

    async def does(self, script: str) -> Any:
        """Run a script in the page, with the helpers in HANDS. Return the script's result."""
        return await self.evaluate(f"async () => {{ {HANDS} {script} }}")

    async def join(self, *, camera: bool = True) -> None:
        """Fill in the form, including the camera, and join the call."""
        await self.evaluate(JOIN_SCRIPT % (json.dumps(self.name), json.dumps(camera)))

        async def connected() -> bool:
            return bool(
                await self.evaluate(
                    "() => document.getElementById('call-state')?.textContent === 'Connected'"
                )
            )

        await wait_until(f"{self.name} is connected", connected, within_s=JOIN_DEADLINE_S)


class Firefox:
    """A BiDi session that runs one command at a time."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self._socket = socket
        self._commands = 0
        self._turn = asyncio.Lock()

    async def arrive(
        self, name: str, url: str, *, size: ViewportSize | None = None, before: str = ""
    ) -> FirefoxPerson:
        """Open a page with its own storage and show the sign-in form. The script `before` runs first."""
        person = (await self.command("browser.createUserContext"))["userContext"]
        page = (await self.command("browsingContext.create", type="window", userContext=person))["context"]
        if size:
            await self.command("browsingContext.setViewport", context=page, viewport=size)
        for script in (WANTS_EVERYTHING, before):
            if script:
                await self.command("script.addPreloadScript", functionDeclaration=script, contexts=[page])
        await self.command("browsingContext.navigate", context=page, url=url, wait="complete")

        async def evaluate(function: str) -> Any:
            answer = await self.command(
                "script.callFunction",
                functionDeclaration=f"async () => JSON.stringify((await ({function})()) ?? null)",
                target={"context": page},
                awaitPromise=True,
                userActivation=True,
            )
            assert answer["type"] == "success", answer
            return json.loads(answer["result"]["value"])

        reload = partial(self.command, "browsingContext.reload", context=page, wait="complete")
        return FirefoxPerson(name, evaluate, reload)

    async def command(self, method: str, **params: object) -> dict[str, Any]:
        async with self._turn, asyncio.timeout(COMMAND_DEADLINE_S):
            self._commands += 1
            await self._socket.send_json({"id": self._commands, "method": method, "params": params})
            while True:
                answer = await self._socket.receive_json()
                if answer.get("id") == self._commands:
                    assert answer["type"] == "success", answer
                    result: dict[str, Any] = answer["result"]
                    return result


def firefox() -> str | None:
    """Return the path of this system's Firefox."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


@asynccontextmanager
async def running_firefox(
    executable: str,
    profile: Path,
    *,
    inside: Sequence[str] = (),
    connector: TCPConnector | None = None,
    preferences: Mapping[str, object] = MappingProxyType({}),
    trusted: bytes | None = None,
) -> AsyncIterator[Firefox]:
    """Run Firefox. `inside` is a command prefix that runs it in another namespace, which `connector` reaches.

    `trusted` is a CA certificate in PEM format.
    """
    _write_preferences(profile, PREFERENCES | dict(preferences))
    if trusted:
        await _trust(profile, trusted)
    process = await asyncio.create_subprocess_exec(
        *(
            *inside,
            executable,
            "--headless",
            "--no-remote",
            "--profile",
            str(profile),
            "--remote-debugging-port",
            "0",
        ),
        stdout=DEVNULL,
        stderr=PIPE,
    )
    try:
        async with asyncio.timeout(START_DEADLINE_S):
            address = await _read_address(process)
        # Unread messages from the browser must not fill the pipe.
        reading = asyncio.create_task(_read_to_end(process))
        async with (
            ClientSession(connector=connector) as session,
            session.ws_connect(f"{address}/session", max_msg_size=0) as socket,
        ):
            browser = Firefox(socket)
            await browser.command("session.new", capabilities={})
            yield browser
    finally:
        await _end(process)
    await reading


def _write_preferences(profile: Path, preferences: Mapping[str, object]) -> None:
    profile.mkdir()
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in preferences.items()]
    (profile / "user.js").write_text("\n".join(lines))


async def _trust(profile: Path, authority: bytes) -> None:
    """Make Firefox trust a CA. Browsers use a TURN server only if they trust its certificate."""
    (profile / "authority.pem").write_bytes(authority)
    database = ("-d", f"sql:{profile}")
    adding = ("-A", "-n", "tests", "-t", "C,,", "-i", str(profile / "authority.pem"))
    for arguments in (("-N", "--empty-password"), adding):
        process = await asyncio.create_subprocess_exec(required("certutil"), *database, *arguments)
        async with asyncio.timeout(START_DEADLINE_S):
            assert await process.wait() == 0


async def _read_address(process: Process) -> str:
    assert process.stderr is not None
    async for line in process.stderr:
        if match := re.search(rb"WebDriver BiDi listening on (ws://\S+)", line):
            return match[1].decode()
    raise AssertionError("Firefox exited before it could be controlled")


async def _read_to_end(process: Process) -> None:
    assert process.stderr is not None
    while await process.stderr.read(65536):
        pass


async def _end(process: Process) -> None:
    if process.returncode is None:
        process.terminate()
        try:
            async with asyncio.timeout(STOP_DEADLINE_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
