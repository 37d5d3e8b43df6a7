"""A program dies in mid-call, and people go on talking without lifting a hand.

Spec: media document section 6.1, `sync_request`; the five seconds are the project's own goal.
"""

import asyncio
import os
import signal

from tests.kit.people import People, Person
from tests.kit.product import Product
from tests.kit.waiting import wait_until

NAMES = ["Ada", "Grace"]
BACK_WITHIN_S = 5.0
# The pages have to find the chat server again before they can ask for a new grant.
BACK_AFTER_CHAT_WITHIN_S = 15.0


async def talking(people: People) -> tuple[Person, Person]:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.join()
    await grace.join()
    await asyncio.gather(ada.sees(grace, frames=30), grace.sees(ada, frames=30))
    return ada, grace


async def lose_each_other_and_meet_again(ada: Person, grace: Person, within_s: float) -> None:
    async def gone() -> bool:
        return not (await ada.statistics()).received and not (await grace.statistics()).received

    async def flowing() -> bool:
        at_ada, at_grace = await asyncio.gather(ada.statistics(), grace.statistics())
        return at_ada.frames("Grace") > 0 and at_grace.frames("Ada") > 0

    await wait_until("both notice", gone, within_s=within_s)
    await wait_until("both see each other", flowing, within_s=within_s)
    await asyncio.gather(ada.hears(grace), grace.hears(ada))
    assert await ada.shown_people() == await grace.shown_people() == NAMES


async def test_media_flows_again_after_the_media_service_was_killed(people: People, product: Product) -> None:
    ada, grace = await talking(people)
    killed = product.program("sfu")
    os.kill(killed, signal.SIGKILL)
    await lose_each_other_and_meet_again(ada, grace, BACK_WITHIN_S)
    assert product.program("sfu") != killed


async def test_media_flows_again_after_the_chat_server_was_killed(people: People, product: Product) -> None:
    ada, grace = await talking(people)
    killed = product.program("chat")
    os.kill(killed, signal.SIGKILL)
    await lose_each_other_and_meet_again(ada, grace, BACK_AFTER_CHAT_WITHIN_S)
    assert product.program("chat") != killed
