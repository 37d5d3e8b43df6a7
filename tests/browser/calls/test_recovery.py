"""A program dies in mid-call, and people go on talking without lifting a hand.

docs/signalling.md, "To the chat server", `sync_request`; the five seconds are the project's own goal.
"""

import asyncio
import os
import signal

from tests.kit.people import People, Person
from tests.kit.product import Product
from tests.kit.waiting import wait_until

NAMES = ["Ada", "Grace"]
# A connection is known from the next one, however fast that comes.
KEEP_CONNECTION = "() => { window.lost = svc.call.pc; }"
HAS_ANOTHER = "() => ![undefined, null, window.lost].includes(svc.call?.pc)"
# Whose tile has gone meanwhile, or stands elsewhere; it must not, however short it was.
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
BACK_WITHIN_S = 5.0
# The pages have to find the chat server again before they can ask for a new grant.
BACK_AFTER_CHAT_WITHIN_S = 15.0


async def talking(people: People) -> tuple[Person, Person]:
    """Two who see each other, and how they are connected is kept."""
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.join()
    await grace.join()
    await asyncio.gather(ada.sees(grace, frames=30), grace.sees(ada, frames=30))
    await keep_connections(ada, grace)
    for person in (ada, grace):
        await person.page.evaluate(KEEP_TILES)
    return ada, grace


async def keep_connections(*people: Person) -> None:
    for person in people:
        await person.page.evaluate(KEEP_CONNECTION)


async def meet_again(ada: Person, grace: Person, within_s: float) -> None:
    """Over other connections than those that were kept."""

    async def connected() -> bool:
        return all([await person.page.evaluate(HAS_ANOTHER) for person in (ada, grace)])

    async def flowing() -> bool:
        at_ada, at_grace = await asyncio.gather(ada.statistics(), grace.statistics())
        return at_ada.frames("Grace") > 0 and at_grace.frames("Ada") > 0

    async def shown() -> bool:
        return await ada.shown_people() == await grace.shown_people() == NAMES

    await wait_until("both have another connection", connected, within_s=within_s)
    await wait_until("both see each other", flowing, within_s=within_s)
    await asyncio.gather(ada.hears(grace), grace.hears(ada))
    await wait_until("both are shown both", shown, within_s=within_s)


async def test_media_flows_again_after_each_program_was_killed(people: People, product: Product) -> None:
    ada, grace = await talking(people)
    for name, within_s in (("sfu", BACK_WITHIN_S), ("chat", BACK_AFTER_CHAT_WITHIN_S)):
        killed = product.program(name)
        os.kill(killed, signal.SIGKILL)
        await meet_again(ada, grace, within_s)
        assert product.program(name) != killed
        for person in (ada, grace):
            assert await person.page.evaluate("disturbed()") == [], f"{person.name}, without {name}"
        await keep_connections(ada, grace)
