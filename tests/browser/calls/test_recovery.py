"""When a server process dies during a call, people can continue to talk without any action.

See docs/signalling.md, "To the chat server", `sync_request`. Recovery within five seconds is one of the
project's goals.
"""

import asyncio
import os
import signal

from tests.kit.browser_users import People, Person
from tests.kit.svc_up import SvcUp
from tests.kit.wait import wait_until

NAMES = ["Ada", "Grace"]
# Keeps a reference to the connection, so that its replacement is detected however quickly it happens.
KEEP_CONNECTION = "() => { window.lost = svc.call.pc; }"
HAS_ANOTHER = "() => ![undefined, null, window.lost].includes(svc.call?.pc)"
# Records tiles that disappear or move, even briefly. There must be none.
KEEP_TILES = """() => {
  const tiles = () => [...document.querySelectorAll("#people .person")];
  const [before, taken] = [tiles(), []];
  window.disturbed = () => [...taken, ...before.filter((tile, place) => tile !== tiles()[place])]
    .map(({ textContent }) => textContent);
  new MutationObserver((changes) => {
    const removed = changes.flatMap(({ removedNodes }) => [...removedNodes]);
    taken.push(...before.filter((tile) => removed.includes(tile)));
  }).observe(document.body, { childList: true, subtree: true });
}"""
BACK_WITHIN_S = 20.0  # An idle machine needs at most five seconds. See benchmarks.recovery.
# Returns the number of audio packets that a page has sent or received. One packet is sent every 20 ms.
COUNT_SOUND = """async ([type, count]) => [...(await svc.call.pc.getStats()).values()]
  .filter((entry) => entry.type === type && entry.kind === "audio")
  .reduce((sum, entry) => sum + entry[count], 0)"""
KEEP_STATES = """() => {
  window.states = [];
  svc.call.addEventListener("state", () => window.states.push(svc.call.state));
}"""
# The allowed difference between sent and received packets, because they are not counted at the same moment.
# If the call restarted, 130 packets would be missing.
COUNTED_APART = 100


async def talking(people: People) -> tuple[Person, Person]:
    """Have two people join a call, only Ada with a camera. Record their connections and tiles."""
    ada = await people.arrive("Ada", reads="general")
    grace = await people.arrive("Grace", reads="general")
    await ada.enter_call(camera=True)
    await grace.enter_call()
    await asyncio.gather(ada.hears(grace), grace.sees(ada, frames=30))
    await keep_connections(ada, grace)
    for person in (ada, grace):
        await person.page.evaluate(KEEP_TILES)
    return ada, grace


async def keep_connections(*people: Person) -> None:
    for person in people:
        await person.page.evaluate(KEEP_CONNECTION)


async def wait_reconnected(ada: Person, grace: Person, within_s: float) -> None:
    """Wait until Grace sees Ada, and both hear each other, over new connections."""

    async def connected() -> bool:
        return all([await person.page.evaluate(HAS_ANOTHER) for person in (ada, grace)])

    async def flowing() -> bool:
        return (await grace.statistics()).frames("Ada") > 0

    async def shown() -> bool:
        return await ada.shown_people() == await grace.shown_people() == NAMES

    await wait_until("both have a new connection", connected, within_s=within_s)
    await wait_until("Grace sees Ada", flowing, within_s=within_s)
    await asyncio.gather(ada.hears(grace), grace.hears(ada))
    await wait_until("both pages show both people", shown, within_s=within_s)


async def test_media_flows_again_after_the_media_service_is_killed(people: People, product: SvcUp) -> None:
    ada, grace = await talking(people)
    killed = product.program("sfu")
    os.kill(killed, signal.SIGKILL)
    await wait_reconnected(ada, grace, BACK_WITHIN_S)
    assert product.program("sfu") != killed
    for person in (ada, grace):
        assert await person.page.evaluate("disturbed()") == [], person.name


async def test_a_chat_server_restart_is_inaudible(people: People, product: SvcUp) -> None:
    """Kill the chat server twice, and stop it twice as an update would.

    Then have a third person join, to check that signalling works again.
    """
    ada, grace = await talking(people)
    await grace.page.evaluate(KEEP_STATES)
    await ada.page.evaluate(KEEP_STATES)
    before = await on_the_way(grace, ada)
    for number in 2 * (signal.SIGKILL, signal.SIGTERM):
        stopped = product.program("chat")
        os.kill(stopped, number)
        await started_again(product, stopped)
        for person in (ada, grace):
            await person.page.wait_for_function("() => svc.call.signalled")
    assert await on_the_way(grace, ada) - before < COUNTED_APART
    for person in (ada, grace):
        assert await person.page.evaluate("svc.call.pc === window.lost"), person.name
        assert await person.page.evaluate("window.states") == [], person.name
        assert await person.page.evaluate("disturbed()") == [], person.name

    linus = await people.arrive("Linus", reads="general")
    await linus.enter_call(camera=True)
    await asyncio.gather(linus.sees(ada), ada.sees(linus), linus.hears(grace), grace.sees(linus))
    # The chat server knows the participants' media states again.
    await linus.page.locator("#voice-channels li", has_text="Ada").first.wait_for()
    await ada.press("Leave")
    await wait_until("Ada has left at once", lambda: is_without(grace, "Ada"), within_s=BACK_WITHIN_S)


async def on_the_way(sender: Person, receiver: Person) -> int:
    """Return the number of audio packets that the sender has sent and the receiver has not received."""
    sent = await sender.page.evaluate(COUNT_SOUND, ["outbound-rtp", "packetsSent"])
    return int(sent - await receiver.page.evaluate(COUNT_SOUND, ["inbound-rtp", "packetsReceived"]))


async def started_again(product: SvcUp, stopped: int) -> None:
    async def is_another() -> bool:
        try:
            return product.program("chat") != stopped
        except LookupError:
            return False

    await wait_until("the chat server has restarted", is_another, within_s=30)


async def is_without(person: Person, name: str) -> bool:
    return name not in await person.shown_people()
