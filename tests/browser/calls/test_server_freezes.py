"""A server that freezes for a moment, as when a virtual machine migrates, keeps everybody in the call."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from tests.kit.people import People
from tests.kit.product import Product

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


async def test_a_paused_server_loses_nobody(people: People, product: Product) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.join()
    await grace.join()
    await asyncio.gather(ada.hears(grace), grace.hears(ada))
    for person in (ada, grace):
        await person.page.evaluate("() => { window.connection = svc.call.pc; }")
    for programs in (["sfu"], ["sfu", "chat"]):
        async with standing_still([product.program(each) for each in programs]):
            await asyncio.sleep(STILL_S)
        await asyncio.gather(ada.sees(grace), grace.sees(ada), ada.hears(grace), grace.hears(ada))
        for person in (ada, grace):
            await person.is_connected()
            assert await person.page.evaluate("() => window.connection === svc.call.pc"), programs


async def test_a_chat_server_that_no_longer_answers_takes_nobody_from_the_call(
    people: People, product: Product
) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.join()
    await grace.join()
    await asyncio.gather(ada.hears(grace), grace.hears(ada))
    for person in (ada, grace):
        await person.page.evaluate("() => { window.connection = svc.call.pc; }")
    async with standing_still([product.program("chat")]):
        for person in (ada, grace):
            await person.page.wait_for_function("() => !svc.call.signalled", timeout=60_000)
        await asyncio.gather(ada.hears(grace), grace.hears(ada))
    for person in (ada, grace):
        await person.page.wait_for_function("() => svc.call.signalled")
        assert await person.page.evaluate("() => window.connection === svc.call.pc")
