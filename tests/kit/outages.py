"""Causes outages of a home network, and measures how long a call and the chat take to recover.

Ada is in a call with Grace, whose network keeps working. Ada uses the web client in one of two browsers, or a
Pion client, which rejoins by itself and shows no messages. Each of them records when the other's audio
arrives, and Grace writes a message during the outage. The result is the time from when the network is
restored until the last silence on either side ends. A change without downtime, such as a NAT rebinding,
counts as restored immediately.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Protocol

from tests.kit.audio_arrivals import Arrival
from tests.kit.browser_users import Person, bare_chromium, chromium
from tests.kit.firefox import firefox
from tests.kit.home_networks import (
    ALL,
    UDP,
    Home,
    World,
    firefox_in,
    home_networks,
    people_in,
    server_in,
)
from tests.kit.home_networks import why_not as home_networks_refused
from tests.kit.page_statistics import Watcher
from tests.kit.pion import pion_in
from tests.kit.pion import why_not as pion_refused
from tests.kit.svc_up import SvcUp
from tests.kit.text_channels import open_channel, write
from tests.kit.wait import wait_until

# A longer pause in the audio than PAUSE_S counts as an interruption. Audio has recovered once there has been
# no such pause for STEADY_S.
PAUSE_S, STEADY_S = 0.7, 3.0
DEADLINE_S = 120.0
POLL_S = 0.25
LITTLE_KBYTES = 24
REBINDS = 3

# Records the arrival times of audio (ms), the time at which each message was first shown, and the time at
# which each problem appeared. The page is checked ten times a second, or less often on a busy machine, so the
# exact arrival lies between two checks.
NOTE = """
() => {
  const noted = { sound: [], shown: {}, problems: [] };
  window.noted = noted;
  let before = "", looked = Date.now();
  const look = async () => {
    const words = document.querySelector(".call-bar .trouble")?.textContent ?? "";
    if (words !== (noted.problems.at(-1)?.[1] ?? "")) noted.problems.push([Date.now(), words]);
    const voice = window.svc?.call?.tracks.find(({ source }) => source === "mic");
    for (const { textContent } of document.querySelectorAll(".message .body > .text")) {
      noted.shown[textContent.trim()] ??= Date.now();
    }
    const found = voice ? [...(await voice.receiver.getStats()).values()] : [];
    const now = Date.now();
    for (const { type, ssrc, packetsReceived } of found) {
      if (type !== "inbound-rtp" || !packetsReceived || before === `${ssrc} ${packetsReceived}`) continue;
      before = `${ssrc} ${packetsReceived}`;
      noted.sound.push([looked, now]);
    }
    looked = now;
    setTimeout(look, 100);
  };
  look();
}
"""


@dataclass(frozen=True, slots=True)
class Outage:
    """A kind of outage. `happen` returns when the network has been restored or has changed permanently."""

    name: str
    what: str
    happen: Callable[[Home, float], Coroutine[None, None, None]]
    lasts_s: float = 0.0
    chat_too: bool = True


async def _rebind(home: Home, _lasts_s: float) -> None:
    await home.rebind()


async def _move(home: Home, _lasts_s: float) -> None:
    await home.move()


async def _dead_path(home: Home, _lasts_s: float) -> None:
    """Block UDP on the current network and connect another network."""
    (network,) = home.on
    other = "mobile" if network == "wifi" else "wifi"
    await home.up(other)
    await asyncio.sleep(2)
    await home.drops(UDP, network)


async def _no_packets(home: Home, lasts_s: float) -> None:
    await home.drops(ALL)
    await asyncio.sleep(lasts_s)
    await home.passes()


async def _no_udp(home: Home, lasts_s: float) -> None:
    await home.drops(UDP)
    await asyncio.sleep(lasts_s)
    await home.passes()


async def _little_udp(home: Home, lasts_s: float) -> None:
    """Limit UDP to a rate that is enough for two people's audio but not for video."""
    await home.limits_udp(LITTLE_KBYTES)
    await asyncio.sleep(lasts_s)


async def _unplugged(home: Home, lasts_s: float) -> None:
    (network,) = home.on
    await home.down(network)
    await asyncio.sleep(lasts_s)
    await home.up(network)


async def _rebind_again_and_again(home: Home, lasts_s: float) -> None:
    for _ in range(REBINDS):
        await asyncio.sleep(lasts_s / REBINDS)
        await home.rebind()


async def _sleep(home: Home, lasts_s: float) -> None:
    home.freeze()
    await asyncio.sleep(lasts_s)
    home.thaw()


OUTAGES = (
    Outage("rebind", "the NAT forgets its ports", _rebind, chat_too=False),
    Outage("rebinds", "the NAT forgets its ports every 30 s", _rebind_again_and_again, 90.0, chat_too=False),
    Outage("move", "Wi-Fi to mobile, or back: another address", _move),
    Outage("dead-path", "one of two networks loses all UDP", _dead_path, chat_too=False),
    Outage("no-udp", "no UDP for 10 s, on kept sockets", _no_udp, 10.0, chat_too=False),
    Outage("little-udp", f"UDP beyond {LITTLE_KBYTES} KB/s is lost", _little_udp, 10.0, chat_too=False),
    Outage("no-packets", "every packet is lost for 30 s", _no_packets, 30.0),
    Outage("unplugged", "no network at all for 30 s", _unplugged, 30.0),
    Outage("sleep", "the laptop sleeps for 60 s", _sleep, 60.0),
)


def outage(name: str) -> Outage:
    return next(outage for outage in OUTAGES if outage.name == name)


@dataclass(frozen=True, slots=True)
class Healed:
    """Recovery times in seconds after the network was restored. A time is 0 if nothing was interrupted."""

    grace_hears_s: float  # until Grace hears Ada again
    hears_s: float  # until Ada hears Grace again
    chat_s: float
    # The time from the start of the outage until Ada's page shows the cause, or 0 if it does not.
    problem_shown_s: float

    @property
    def sound_s(self) -> float:
        return max(self.grace_hears_s, self.hears_s)


class Listener(Protocol):
    """A participant who records when audio arrives. Times are in seconds on the monotonic clock."""

    async def sound_since(self, begin: float) -> list[Arrival]: ...

    async def shown(self, text: str) -> float:
        """Wait for the message. Return the time at which it appeared, or 0 if this client shows none."""

    async def problem_shown(self, begin: float, end: float) -> float:
        """Return the time at which the problem shown at `end` appeared, or `begin` if none is shown or it
        appeared earlier.
        """


class AtPage:
    """A page that shows a text channel and records times."""

    def __init__(self, watcher: Watcher) -> None:
        self.evaluate = watcher.evaluate

    async def begin(self) -> None:
        await self.evaluate(NOTE)

    async def sound_since(self, begin: float) -> list[Arrival]:
        sounds = await self.evaluate(f"() => noted.sound.filter(([, by]) => by > {begin * 1000})")
        return [Arrival(after / 1000, by / 1000) for after, by in sounds]

    async def shown(self, text: str) -> float:
        async def is_shown() -> bool:
            return bool(await self.evaluate(f"() => noted.shown[{text!r}] ?? 0"))

        await wait_until(f"{text} is shown", is_shown, within_s=DEADLINE_S)
        return float(await self.evaluate(f"() => noted.shown[{text!r}]")) / 1000

    async def problem_shown(self, begin: float, end: float) -> float:
        notes = [(at / 1000, words) for at, words in await self.evaluate("() => noted.problems")]
        of_this = [(at, words) for at, words in notes if begin < at < end]
        return of_this[-1][0] if of_this and of_this[-1][1] else begin


@dataclass(slots=True)
class Talk:
    home: Home
    ada: Listener
    at_grace: AtPage
    grace: Person
    product: SvcUp
    times: int = 0

    async def through(self, outage: Outage, lasts_s: float | None = None) -> Healed:
        """Run the outage and wait for full recovery. Return the recovery times."""
        self.times += 1
        text = f"Message {self.times}"
        begin = time.time()
        lasts_s = outage.lasts_s if lasts_s is None else lasts_s

        async def happen() -> float:
            await outage.happen(self.home, lasts_s)
            return time.time()

        # The message is written during the outage and reaches Ada over the restored network.
        back, _ = await asyncio.gather(happen(), write(self.grace, text))
        hears_s, grace_hears_s = await asyncio.gather(
            _sound_back(self.ada, begin, back), _sound_back(self.at_grace, begin, back)
        )
        shown = await self.ada.shown(text)
        problem_at = await self.ada.problem_shown(begin, back)
        await self._tidy()
        return Healed(
            grace_hears_s, hears_s, max(0.0, shown - back) if outage.chat_too else 0.0, problem_at - begin
        )

    async def _tidy(self) -> None:
        """Restore the network to a single uplink without restrictions."""
        await self.home.passes()
        if len(self.home.on) > 1:
            await self.home.down(self.home.on[0])


async def _sound_back(listener: Listener, begin: float, back: float) -> float:
    """Return the time from `back` to the end of the last pause in the audio."""
    async with asyncio.timeout(DEADLINE_S):
        while True:
            await asyncio.sleep(POLL_S)
            sounds = await listener.sound_since(begin - 1)
            pauses = [later.by for sooner, later in pairwise(sounds) if later.after - sooner.by > PAUSE_S]
            since = max([back, *pauses])
            now = time.time()
            if sounds and now - sounds[-1].by < PAUSE_S and now - since > STEADY_S:
                return max(0.0, max(pauses, default=0.0) - back)


@asynccontextmanager
async def talking(
    folder: Path, client: str = "chromium", families: Sequence[int] = (4,)
) -> AsyncIterator[Talk]:
    """Connect Ada and Grace in a call. Ada uses one of CLIENTS, and both have a text channel open."""
    async with AsyncExitStack() as stack:
        world = await stack.enter_async_context(home_networks("ada", "grace", families=families))
        product = await stack.enter_async_context(server_in(world, folder / "data"))
        people = people_in(world.homes["grace"], product.url, _chromium_in(world.homes["grace"]))
        grace = await (await stack.enter_async_context(people)).arrive("Grace")
        await grace.join(camera=False)
        await open_channel(grace, "general")
        at_grace = AtPage(grace)
        await at_grace.begin()
        ada = await stack.enter_async_context(CLIENTS[client](world, product, folder))
        await asyncio.gather(*(_hears(person) for person in (ada, at_grace)))
        yield Talk(world.homes["ada"], ada, at_grace, grace, product)
        assert grace.faults == []


async def _hears(listener: Listener) -> None:
    begin = time.time()

    async def hears() -> bool:
        return bool(await listener.sound_since(begin))

    await wait_until("sound arrives", hears, within_s=DEADLINE_S)


def _chromium_in(home: Home) -> str:
    """Return the path of the Chromium for this home. The bare Chromium cannot make calls over IPv6 alone."""
    return str(bare_chromium() if 4 in home.families else chromium())


@asynccontextmanager
async def _chromium(world: World, product: SvcUp, _folder: Path) -> AsyncIterator[Listener]:
    async with people_in(world.homes["ada"], product.url, _chromium_in(world.homes["ada"])) as people:
        ada = await people.arrive("Ada")
        await ada.join(camera=False)
        await open_channel(ada, "general")
        page = AtPage(ada)
        await page.begin()
        yield page
        assert people.faults == []


@asynccontextmanager
async def _firefox(world: World, product: SvcUp, folder: Path) -> AsyncIterator[Listener]:
    browser = firefox_in(world.homes["ada"], product.url, str(firefox()), folder / "profile")
    async with browser as people:
        ada = await people.arrive("Ada", product.url)
        await ada.join()
        await ada.does("(await one('#text-channels .channel')).click(); await one('#draft');")
        page = AtPage(ada)
        await page.begin()
        yield page


@asynccontextmanager
async def _pion(world: World, product: SvcUp, folder: Path) -> AsyncIterator[Listener]:
    async with pion_in(world, "ada", product, folder / "data") as caller:
        yield caller


# The clients that Ada can use.
CLIENTS = {"chromium": _chromium, "firefox": _firefox, "pion": _pion}


def why_not(client: str = "chromium") -> str:
    """Return the reason why this machine cannot simulate outages for that client, or "" if it can."""
    if reason := home_networks_refused() or (pion_refused() if client == "pion" else ""):
        return reason
    missing = not bare_chromium() or (client == "firefox" and not firefox())
    return "A browser is missing; ci/setup installs it." if missing else ""
