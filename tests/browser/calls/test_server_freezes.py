"""Nobody drops out of a call when a server freezes briefly, for example during the migration of a virtual
machine.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

from tests.kit.browser_users import People, Person
from tests.kit.svc_up import SvcUp
from tests.kit.wait import retry_scenario

STILL_S = 4.0


@asynccontextmanager
async def standing_still(pids: Sequence[int]) -> AsyncIterator[None]:
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


async def keeps_connections(people: Sequence[Person], product: SvcUp, programs: Sequence[str]) -> None:
    """Freeze these programs: briefly if the media service is one of them, and otherwise until the pages
    notice.

    Then check that the pages still use the same connections.
    """
    ada, grace = people
    for person in people:
        await person.page.evaluate("() => { window.connection = svc.call.pc; }")
    async with standing_still([product.program(program) for program in programs]):
        if "sfu" in programs:
            await asyncio.sleep(STILL_S)
        else:
            away = [person.page.wait_for_function("() => !svc.call.signalled") for person in people]
            await asyncio.gather(*away)
            await asyncio.gather(ada.hears(grace), grace.hears(ada))
    await asyncio.gather(grace.sees(ada), ada.hears(grace), grace.hears(ada))
    for person in people:
        await person.page.wait_for_function("() => svc.call.signalled")
        await person.is_connected()
        assert await person.page.evaluate("() => window.connection === svc.call.pc"), (person.name, programs)


async def test_nobody_drops_out_of_a_call_when_the_server_is_paused(people: People, product: SvcUp) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.arrive("Grace", reads="general")
    await ada.enter_call(camera=True)
    await grace.enter_call()
    await asyncio.gather(ada.hears(grace), grace.hears(ada))
    for programs in (["sfu"], ["sfu", "chat"], ["chat"]):
        # Retry, because a page that is itself stalled when the server continues gives up its connection.
        await retry_scenario(2, partial(keeps_connections, (ada, grace), product, programs))
