"""Permitted members use the channel list to mute, move and remove people in calls."""

from collections.abc import Sequence

from playwright.async_api import Locator, expect

from tests.browser.test_accessibility import at_both_sizes, axe
from tests.kit.community import ROLES, Community, ask, community
from tests.kit.people import People, Person

__all__ = ["axe"]


async def with_a_member_in_a_call(
    people: People, *permissions: str, pages: Sequence[str] = ROLES
) -> Community:
    here = await community(people, *permissions, pages=pages)
    await ask(here.owner, "POST", "/api/channels", {"name": "Lounge", "type": "voice"})
    await here.member.enter_call()
    return here


def in_room(person: Person, room: str) -> Locator:
    return person.page.get_by_role("list", name=f"People in {room}").get_by_role("listitem")


def edsger_in_the_list(person: Person) -> Locator:
    return in_room(person, "Voice").filter(has_text="Edsger")


async def open_menu(person: Person, of: str) -> Locator:
    """Open a participant's menu."""
    await person.page.locator(".voice-people li").filter(has_text=of).hover()
    await person.press(f"More about {of}")
    return person.page.get_by_role("menuitem")


async def act(person: Person, of: str, item: str) -> None:
    await open_menu(person, of)
    await person.page.get_by_role("menuitem", name=item, exact=True).click()


async def test_a_moderator_can_mute_and_deafen_a_member(people: People) -> None:
    here = await with_a_member_in_a_call(people, "mute_members")
    await here.moderator.enter_call()
    await here.moderator.hears(here.member)
    offered = await open_menu(here.moderator, "Edsger")
    await expect(offered).to_have_text(["Mute for everyone", "Deafen", "Message"])
    await offered.first.click()
    at_member, at_owner = [edsger_in_the_list(person) for person in (here.member, here.owner)]
    await expect(at_member).to_contain_text("muted by a moderator")
    await here.moderator.hears_nothing_of(here.member)
    await here.member.hears(here.moderator)
    await act(here.moderator, "Edsger", "Deafen")
    await expect(at_owner).to_contain_text("deafened by a moderator")
    await here.member.hears_nothing_of(here.moderator)
    # A person who is also self-muted stays muted, with a different icon, when the moderator lifts the mute.
    await here.member.press("Mute")
    await act(here.owner, "Edsger", "Undeafen")
    await act(here.owner, "Edsger", "Unmute")
    await expect(at_owner).not_to_contain_text("moderator")
    await expect(at_owner).to_contain_text("muted")
    await here.member.hears(here.moderator)
    await here.member.press("Unmute")
    await expect(at_owner).not_to_contain_text("muted")
    await here.moderator.hears(here.member)


async def test_a_channel_where_few_members_may_speak_is_shown_as_a_stage(people: People, axe: str) -> None:
    here = await community(people)
    channels = (await ask(here.owner, "GET", "/api/channels"))["channels"]
    [room] = [each["id"] for each in channels if each["type"] == "voice"]
    await ask(here.owner, "PUT", f"/api/channels/{room}/overrides/role/member", {"deny": ["speak"]})
    for person in (here.owner, here.moderator, here.member):
        await person.resize({"width": 1000, "height": 600})
        await person.enter_call()
    audience = here.owner.page.locator("#audience li")
    await expect(audience).to_have_count(2)
    assert await here.owner.shown_people() == ["Ada"]
    # Listeners in the audience have no microphone, so they are not marked as muted.
    await expect(edsger_in_the_list(here.owner)).not_to_contain_text("muted")
    await expect(here.owner.page.locator("#mic")).to_be_visible()
    await expect(here.member.page.locator("#mic")).to_have_count(0)
    # Listeners with raised hands come first.
    await here.member.press("Raise hand")
    await expect(audience.first).to_contain_text("Edsger")
    await expect(audience.first).to_contain_text("hand raised")
    await at_both_sizes(here.owner, axe, "a stage")
    await expect(here.member.page.get_by_role("button", name="Invite to speak")).to_have_count(0)

    await here.owner.press("Invite to speak Edsger")
    for person in (here.owner, here.moderator, here.member):
        await expect(person.page.locator("#people .name").filter(has_text="Edsger")).to_be_visible()
        await expect(person.page.locator("#audience li")).to_have_count(1)
    # The invitation lowers the raised hand, and the invited member decides when to unmute.
    await expect(here.member.page.locator(".notice")).to_have_text(
        "You can speak now. Unmute when you’re ready."
    )
    await expect(edsger_in_the_list(here.owner)).not_to_contain_text("hand raised")
    await expect(edsger_in_the_list(here.owner)).to_contain_text("muted")
    await here.member.press("Unmute")
    await here.moderator.hears(here.member)
    await act(here.owner, "Edsger", "Move to audience")
    await expect(audience).to_have_count(2)
    await here.moderator.hears_nothing_of(here.member)
    # A listener who moves on to another call can speak there.
    await ask(here.owner, "POST", "/api/channels", {"name": "Lounge", "type": "voice"})
    await here.member.page.locator("#voice-channels .channel").filter(has_text="Lounge").click()
    await here.member.is_connected()
    await expect(here.member.page.get_by_role("button", name="Mute", exact=True)).to_be_visible()


async def test_a_member_can_be_moved_by_menu_or_by_dragging_and_removed(people: People, axe: str) -> None:
    here = await with_a_member_in_a_call(people, "move_members")
    offered = await open_menu(here.moderator, "Edsger")
    await expect(offered).to_have_text(["Move to Lounge", "Remove from the call", "Message"])
    await offered.first.click()
    for watcher in (here.owner, here.moderator):
        await expect(in_room(watcher, "Lounge")).to_contain_text("Edsger")
    await here.member.is_connected()
    person = here.moderator.page.locator(".voice-people li").filter(has_text="Edsger")
    await person.drag_to(here.moderator.page.locator("#voice-channels .channel").first)
    await expect(in_room(here.owner, "Voice")).to_contain_text("Edsger")
    await here.member.is_connected()

    # An ordinary member does not have these menu items and cannot drag anybody.
    await here.moderator.enter_call()
    await expect(in_room(here.member, "Voice")).to_have_count(2)
    await expect(here.member.page.locator(".voice-people .menu-holder")).to_have_count(0)
    await expect(here.member.page.locator(".voice-people [draggable=true]")).to_have_count(0)

    await act(here.moderator, "Edsger", "Remove from the call")
    await expect(in_room(here.owner, "Voice")).to_have_count(1)
    await expect(here.member.page.locator("#call")).to_contain_text("You were removed from the call.")
    await at_both_sizes(here.member, axe, "a member removed from a call")


async def test_a_full_channel_is_reported_in_the_members_language(people: People, axe: str) -> None:
    here = await with_a_member_in_a_call(people, "move_members", pages=("moderator", "member"))
    channels = (await ask(here.owner, "GET", "/api/channels"))["channels"]
    [voice] = [channel["id"] for channel in channels if channel["name"] == "Voice"]
    await ask(here.owner, "PATCH", f"/api/channels/{voice}", {"user_limit": 1})
    await here.moderator.enter_call()  # A member who can move others may enter even a full channel.
    page = here.member.page
    await here.member.press("Leave")
    await page.evaluate("localStorage.setItem('svc.language', 'de')")
    await page.reload()
    await page.locator("#voice-channels .channel").first.click()
    await expect(page.locator("#call")).to_contain_text("In diesem Sprachkanal sind alle Plätze besetzt.")
    await at_both_sizes(here.member, axe, "a full call")
