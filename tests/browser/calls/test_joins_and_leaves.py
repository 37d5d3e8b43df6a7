"""All participants see who is in the room, however people join and leave.

See `peer_joined` and `peer_left` in docs/signalling.md, and `voice_left` in docs/live.md.
"""

from collections.abc import Iterable

from playwright.async_api import WebSocketRoute, expect

from tests.kit.browser_users import People, Person
from tests.kit.page_relay import SIGNALLING
from tests.kit.svc_up import SvcUp
from tests.kit.wait import wait_until


async def all_show(everybody: Iterable[Person], names: list[str], *, within_s: float = 10) -> None:
    for person in everybody:

        async def shown(person: Person = person) -> bool:
            return await person.shown_people() == names

        await wait_until(f"{person.name} sees {names}", shown, within_s=within_s)


async def receives(person: Person, names: set[str]) -> None:
    """Wait until this person's page receives media from exactly these people."""

    async def so() -> bool:
        return {track.name for track in (await person.statistics()).received} == names

    await wait_until(f"{person.name} receives {names or 'nobody'}", so, within_s=10)


class SeverableConnection:
    """A page's signalling connection, which the test can cut."""

    # Clients and services use this close code when they have lost the other side.
    LOST = 4000

    def __init__(self) -> None:
        self._plugged = True
        self._ends: list[WebSocketRoute] = []

    @classmethod
    async def to(cls, person: Person) -> "SeverableConnection":
        """Route this person's future signalling connections through an object that can cut them. Return the
        object.
        """
        cable = cls()
        await person.page.route_web_socket(SIGNALLING, cable._opened)
        return cable

    async def _opened(self, client: WebSocketRoute) -> None:
        if self._plugged:
            self._ends = [client, client.connect_to_server()]
        else:
            await client.close(code=self.LOST)

    async def pull_out(self) -> None:
        self._plugged = False
        for end in self._ends:
            await end.close(code=self.LOST)

    def plug_in(self) -> None:
        self._plugged = True


async def test_a_person_who_leaves_or_loses_the_connection_disappears_for_others(people: People) -> None:
    ada, grace, alan = [await people.arrive(name) for name in ("Ada", "Grace", "Alan")]
    cable = await SeverableConnection.to(grace)
    for person in (ada, grace, alan):
        await person.join(camera=person is grace)
    await all_show((ada, grace, alan), ["Ada", "Alan", "Grace"])
    await ada.hears(alan)

    await alan.press("Leave")
    await all_show((ada, grace), ["Ada", "Grace"])
    await receives(ada, {"Grace"})
    await ada.sees(grace)

    # A member whose connection is lost appears as reconnecting for a while, and can return later.
    await cable.pull_out()
    for shown in (ada.page.locator("#people"), ada.page.locator(".voice-people")):
        await expect(shown.locator(".lost").filter(has_text="Grace")).to_contain_text("Reconnecting…")
    await all_show((ada,), ["Ada"], within_s=30)
    await expect(grace.page.locator("#call-state")).to_have_text("Reconnecting…")
    cable.plug_in()
    await all_show((ada, grace), ["Ada", "Grace"], within_s=30)
    await expect(ada.page.locator(".lost")).to_have_count(0)
    await ada.sees(grace)
    await ada.hears(grace)

    await grace.page.close()
    await all_show((ada,), ["Ada"])
    await receives(ada, set())


async def test_a_person_who_reloads_or_opens_a_second_tab_is_in_the_call_only_once(
    people: People, product: SvcUp
) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.arrive("Grace", reads="general")
    await ada.enter_call()
    await grace.enter_call(camera=True)
    await grace.press("Leave")
    await all_show((ada,), ["Ada"])

    await grace.press("Join call")
    await grace.press("Start camera")
    await all_show((ada, grace), ["Ada", "Grace"])
    await ada.sees(grace)
    await ada.hears(grace)

    frames: list[str | bytes] = []
    grace.page.on("websocket", lambda socket: socket.on("framesent", lambda frame: frames.append(frame)))
    await grace.page.reload()
    await grace.is_connected()
    await all_show((ada, grace), ["Ada", "Grace"])
    await ada.sees(grace)
    await ada.hears(grace)
    await grace.hears(ada)

    reports = len(microphone_reports(frames))
    assert reports > 0

    # A second tab replaces the first one, which does not report that the call has ended.
    second = Person("Grace", await grace.page.context.new_page())
    await second.page.goto(product.url)
    await second.enter_call()
    await expect(grace.page.get_by_text("You joined from another tab or device.").first).to_be_visible()
    assert len(microphone_reports(frames)) == reports
    await all_show((ada, second), ["Ada", "Grace"])
    await ada.hears(second)
    assert second.faults == []


def microphone_reports(frames: list[str | bytes]) -> list[str | bytes]:
    return [frame for frame in frames if "voice_mute_self" in str(frame)]


async def test_participants_names_are_shown_as_plain_text(people: People) -> None:
    name = "<img src=x> & <b>Bob</b>"
    ada, bob = await people.arrive("Ada"), await people.arrive(name)
    await ada.join(camera=False)
    await bob.join(camera=False)
    await all_show((ada, bob), [name, "Ada"])
    assert await ada.page.locator("#people img, #people b").count() == 0
