"""Who is in the room is what everybody's page shows, however people come and go.

Spec: media document sections 3.2 (steps 2 and 5) and 6.1, `peer_joined`, `peer_left`.
"""

from collections.abc import Iterable

from tests.kit.people import People, Person
from tests.kit.product import Product
from tests.kit.waiting import wait_until


async def everybody_shows(everybody: Iterable[Person], names: list[str]) -> None:
    for person in everybody:

        async def shown(person: Person = person) -> bool:
            return await person.shown_people() == names

        await wait_until(f"{person.name} is shown {names}", shown, within_s=10)


async def test_a_page_that_leaves_disappears_for_the_others(people: People) -> None:
    ada, grace, alan = [await people.arrive(name) for name in ("Ada", "Grace", "Alan")]
    for person in (ada, grace, alan):
        await person.join()
    await everybody_shows((ada, grace, alan), ["Ada", "Alan", "Grace"])
    await ada.sees(alan)

    await alan.press("Leave")
    await everybody_shows((ada, grace), ["Ada", "Grace"])
    assert {track.name for track in (await ada.statistics()).received} == {"Grace"}
    await ada.sees(grace)

    await grace.page.close()
    await everybody_shows((ada,), ["Ada"])
    assert (await ada.statistics()).received == ()


async def test_a_page_that_left_comes_back_under_its_name(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.join()
    await grace.join()
    await grace.press("Leave")
    await everybody_shows((ada,), ["Ada"])

    await grace.press("Join the call")
    await grace.press("Start camera")
    await everybody_shows((ada, grace), ["Ada", "Grace"])
    await ada.sees(grace)
    await ada.hears(grace)


async def test_a_page_that_reloads_comes_back(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.join()
    await grace.join()
    await ada.sees(grace)

    await grace.page.reload()
    await grace.is_connected()
    await everybody_shows((ada, grace), ["Ada", "Grace"])
    await ada.sees(grace)
    await ada.hears(grace)
    await grace.sees(ada)
    await grace.hears(ada)


async def test_a_second_tab_takes_the_place_of_the_first(people: People, product: Product) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.join()
    await grace.join()

    second = Person("Grace", await grace.page.context.new_page())
    await second.page.goto(product.url)
    await second.enter_call()
    await grace.page.get_by_text("You joined from another tab or device.").first.wait_for()
    await everybody_shows((ada, second), ["Ada", "Grace"])
    await ada.hears(second)
    assert second.faults == []


async def test_a_name_is_shown_as_the_text_it_is(people: People) -> None:
    name = "<img src=x> & <b>Bob</b>"
    ada, bob = await people.arrive("Ada"), await people.arrive(name)
    await ada.join(camera=False)
    await bob.join(camera=False)
    await everybody_shows((ada, bob), [name, "Ada"])
    assert await ada.page.locator("#people img, #people b").count() == 0
