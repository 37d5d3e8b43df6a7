"""Permitted members can mute, move and remove people in calls from the channel list."""

from collections.abc import Sequence

from playwright.async_api import Locator, expect

from tests.browser.test_accessibility import at_both_sizes, axe
from tests.kit.browser_users import People, Person
from tests.kit.community import ROLES, Community, ask, community

__all__ = ["axe"]


async def with_a_member_in_a_call(
    people: People, *permissions: str, pages: Sequence[str] = ROLES
) -> Community:
    server = await community(people, *permissions, pages=pages)
    await ask(server.owner, "POST", "/api/channels", {"name": "Lounge", "type": "voice"})
    await server.member.enter_call()
    return server


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
    server = await with_a_member_in_a_call(people, "mute_members")
    await server.moderator.enter_call()
    await server.moderator.hears(server.member)
    offered = await open_menu(server.moderator, "Edsger")
    await expect(offered).to_have_text(["Mute for everyone", "Deafen", "Message"])
    await offered.first.click()
    at_member, at_owner = [edsger_in_the_list(person) for person in (server.member, server.owner)]
    await expect(at_member).to_contain_text("muted by a moderator")
    await server.moderator.hears_nothing_of(server.member)
    await server.member.hears(server.moderator)
    await act(server.moderator, "Edsger", "Deafen")
    await expect(at_owner).to_contain_text("deafened by a moderator")
    await server.member.hears_nothing_of(server.moderator)
    # When the moderator lifts the mute, a person who is also self-muted stays muted, with a different icon.
    await server.member.press("Mute")
    await act(server.owner, "Edsger", "Undeafen")
    await act(server.owner, "Edsger", "Unmute")
    await expect(at_owner).not_to_contain_text("moderator")
    await expect(at_owner).to_contain_text("muted")
    await server.member.hears(server.moderator)
    await server.member.press("Unmute")
    await expect(at_owner).not_to_contain_text("muted")
    await server.moderator.hears(server.member)


async def test_a_channel_in_which_few_members_may_speak_appears_as_a_stage(people: People, axe: str) -> None:
    server = await community(people)
    channels = (await ask(server.owner, "GET", "/api/channels"))["channels"]
    [room] = [channel["id"] for channel in channels if channel["type"] == "voice"]
    await ask(server.owner, "PUT", f"/api/channels/{room}/overrides/role/member", {"deny": ["speak"]})
    for person in (server.owner, server.moderator, server.member):
        await person.resize({"width": 1000, "height": 600})
        await person.enter_call()
    audience = server.owner.page.locator("#audience li")
    await expect(audience).to_have_count(2)
    assert await server.owner.shown_people() == ["Ada"]
    # Listeners in the audience cannot use a microphone, so they do not appear as muted.
    await expect(edsger_in_the_list(server.owner)).not_to_contain_text("muted")
    await expect(server.owner.page.locator("#mic")).to_be_visible()
    await expect(server.member.page.locator("#mic")).to_have_count(0)
    # Listeners with raised hands come first.
    await server.member.press("Raise hand")
    await expect(audience.first).to_contain_text("Edsger")
    await expect(audience.first).to_contain_text("hand raised")
    await at_both_sizes(server.owner, axe, "a stage")
    await expect(server.member.page.get_by_role("button", name="Invite to speak")).to_have_count(0)

    await server.owner.press("Invite to speak Edsger")
    for person in (server.owner, server.moderator, server.member):
        await expect(person.page.locator("#people .name").filter(has_text="Edsger")).to_be_visible()
        await expect(person.page.locator("#audience li")).to_have_count(1)
    # The invitation to speak lowers the hand. The invited member decides when to unmute.
    await expect(server.member.page.locator(".notice")).to_have_text(
        "You can speak now. Unmute when you’re ready."
    )
    await expect(edsger_in_the_list(server.owner)).not_to_contain_text("hand raised")
    await expect(edsger_in_the_list(server.owner)).to_contain_text("muted")
    await server.member.press("Unmute")
    await server.moderator.hears(server.member)
    await act(server.owner, "Edsger", "Move to audience")
    await expect(audience).to_have_count(2)
    await server.moderator.hears_nothing_of(server.member)
    # A listener who joins another call can speak there.
    await ask(server.owner, "POST", "/api/channels", {"name": "Lounge", "type": "voice"})
    await server.member.page.locator("#voice-channels .channel").filter(has_text="Lounge").click()
    await server.member.is_connected()
    await expect(server.member.page.get_by_role("button", name="Mute", exact=True)).to_be_visible()


async def test_a_member_can_be_moved_by_menu_or_by_dragging_and_removed(people: People, axe: str) -> None:
    server = await with_a_member_in_a_call(people, "move_members")
    offered = await open_menu(server.moderator, "Edsger")
    await expect(offered).to_have_text(["Move to Lounge", "Remove from the call", "Message"])
    await offered.first.click()
    for watcher in (server.owner, server.moderator):
        await expect(in_room(watcher, "Lounge")).to_contain_text("Edsger")
    await server.member.is_connected()
    person = server.moderator.page.locator(".voice-people li").filter(has_text="Edsger")
    await person.drag_to(server.moderator.page.locator("#voice-channels .channel").first)
    await expect(in_room(server.owner, "Voice")).to_contain_text("Edsger")
    await server.member.is_connected()

    # Ordinary members do not have these menu items and cannot drag anyone.
    await server.moderator.enter_call()
    await expect(in_room(server.member, "Voice")).to_have_count(2)
    await expect(server.member.page.locator(".voice-people .menu-holder")).to_have_count(0)
    await expect(server.member.page.locator(".voice-people [draggable=true]")).to_have_count(0)

    await act(server.moderator, "Edsger", "Remove from the call")
    await expect(in_room(server.owner, "Voice")).to_have_count(1)
    await expect(server.member.page.locator("#call")).to_contain_text("You were removed from the call.")
    await at_both_sizes(server.member, axe, "a member removed from a call")


async def test_a_full_channel_is_reported_in_the_members_language(people: People, axe: str) -> None:
    server = await with_a_member_in_a_call(people, "move_members", pages=("moderator", "member"))
    channels = (await ask(server.owner, "GET", "/api/channels"))["channels"]
    [voice] = [channel["id"] for channel in channels if channel["name"] == "Voice"]
    await ask(server.owner, "PATCH", f"/api/channels/{voice}", {"user_limit": 1})
    await server.moderator.enter_call()  # Members who can move others may enter even full channels.
    page = server.member.page
    await server.member.press("Leave")
    await page.evaluate("localStorage.setItem('svc.language', 'de')")
    await page.reload()
    await page.locator("#voice-channels .channel").first.click()
    await expect(page.locator("#call")).to_contain_text("In diesem Sprachkanal sind alle Plätze besetzt.")
    await at_both_sizes(server.member, axe, "a full call")
