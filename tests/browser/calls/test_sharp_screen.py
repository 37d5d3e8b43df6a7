"""A still screen becomes sharp for late joiners, in hidden tabs and after a gap in the connection.

Row A8 of `python -m benchmarks.adaptation` measures how quickly this happens.
"""

from tests.browser.calls.test_layers_shown import AUTOMATIC
from tests.kit.browser_users import People, Person
from tests.kit.relay import relay
from tests.kit.shared_print import SET_VISIBILITY, SHARES_PRINT, sharp_at_ms
from tests.kit.wait import PATIENCE, wait_until

SEED = 8
IS_PAUSED = """async () => {
  const { mid } = svc.call.tracks.find(({ source }) => source === "screen");
  const received = async () => [...(await svc.call.pc.getStats()).values()]
    .find((entry) => entry.type === "inbound-rtp" && entry.mid === mid).packetsReceived;
  const before = await received();
  await new Promise((again) => setTimeout(again, 1000));
  return await received() === before;
}"""
WITHIN_S = 20


async def sees_it_sharp(person: Person, sharer: Person) -> None:
    at_ms = await sharp_at_ms(person, sharer, PATIENCE * WITHIN_S)
    assert at_ms is not None, f"{person.name} sees a sharp screen"


async def test_a_still_screen_becomes_sharp_for_late_joiners_in_hidden_tabs_and_after_a_gap(
    people: People,
) -> None:
    async with relay(loss=0, seed=SEED) as link:
        ada = await people.arrive("Ada")
        await ada.join(camera=False)
        await ada.page.evaluate(SHARES_PRINT)
        await ada.press("Share screen")
        await ada.page.wait_for_function(
            "() => document.querySelector('#screens video')?.videoWidth === 1280"
        )

        grace = await people.arrive("Grace", link=link)
        await grace.come_in()
        await grace.page.evaluate(AUTOMATIC)
        await grace.page.reload()
        await grace.enter_call()
        await sees_it_sharp(grace, ada)

        await grace.page.evaluate(SET_VISIBILITY, "hidden")

        async def paused() -> bool:
            return bool(await grace.page.evaluate(IS_PAUSED))

        await wait_until("a hidden tab receives no video", paused, within_s=WITHIN_S)
        await ada.page.evaluate("window.print('lightyellow')")
        await grace.page.evaluate(SET_VISIBILITY, "visible")
        await sees_it_sharp(grace, ada)

        link.loss = 1
        await ada.page.evaluate("window.print('lightblue')")
        before = link.lost["down"]

        async def gap() -> bool:
            return link.lost["down"] >= before + 40

        await wait_until("about a second of video is lost", gap, within_s=WITHIN_S)
        link.loss = 0
        await sees_it_sharp(grace, ada)
        await grace.hears(ada)
