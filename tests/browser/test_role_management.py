"""Permitted members can create, reorder, assign and remove roles that rank below their own."""

import re
from collections.abc import Sequence

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.browser.test_accessibility import at_both_sizes, axe
from tests.kit.browser_users import NARROW, WIDE, People, Person
from tests.kit.community import (
    Community,
    ask,
    community,
    has_no_page,
    listed,
    open_settings,
    own_id,
    pick,
    refusal,
)
from tests.kit.text_channels import message
from tests.kit.wait import wait_for_value

__all__ = ["axe"]


@pytest_asyncio.fixture(loop_scope="session")
async def server(people: People, pages: Sequence[str]) -> Community:
    return await community(people, "manage_roles", pages=pages)


async def create(person: Person, name: str, *permissions: str) -> None:
    """Create a role on the roles page. The role's editor stays open."""
    page = await open_settings(person, "Roles")
    await page.get_by_role("button", name="Create role").click()
    await page.get_by_label("Name", exact=True).fill(name)
    for permission in permissions:
        await page.get_by_role("switch", name=permission).check()
    await page.get_by_role("button", name="Create role").click()
    await expect(page.get_by_role("button", name="Delete role")).to_be_visible()
    # After creating a role, people usually assign it to a member.
    await expect(page.get_by_label("Add a member")).to_be_focused()


async def roles_of(person: Person) -> list[str]:
    """Return the names of a member's roles, highest first."""
    own = (await ask(person, "GET", f"/api/members/{await own_id(person)}"))["roles"]
    return [r["name"] for r in (await ask(person, "GET", "/api/roles"))["roles"] if r["id"] in own]


async def menu(person: Person, of: str, item: str) -> None:
    """Choose an item in a member's menu in the member list."""
    await listed(person, of).hover()
    await person.press(f"More about {of}")
    await person.page.get_by_role("menuitem", name=item, exact=True).click()


async def test_a_role_can_be_created_with_a_colour_and_assigned(server: Community, axe: str) -> None:
    owner, member = server.owner, server.member
    page = await open_settings(owner, "Roles")
    await page.get_by_role("button", name="Create role").click()
    await page.get_by_label("Name", exact=True).fill("Gardeners")
    await page.get_by_role("radio", name="#d97a1c").check()
    await page.get_by_role("switch", name="Manage channels").check()
    await at_both_sizes(owner, axe, "a new role")
    await page.get_by_role("button", name="Create role").click()
    await pick(page, "Add a member", "edsg")
    await expect(
        page.get_by_role("list", name="Members with this role").get_by_text("Edsger")
    ).to_be_visible()
    await at_both_sizes(owner, axe, "a role and its members")
    await expect(member.page.get_by_role("button", name="Create text channel")).to_be_visible()
    [made] = [
        role for role in (await ask(owner, "GET", "/api/roles"))["roles"] if role["name"] == "Gardeners"
    ]
    text = {"text": f"[all](role:{made['id']}), it rains"}
    await ask(owner, "POST", "/api/channels/general/messages", text)
    mention = message(member, "it rains").locator(".mention")
    await expect(mention).to_have_text("@Gardeners")
    await expect(mention).to_have_class(re.compile(r"\bcoloured\b"))
    await expect(mention).to_have_attribute("style", re.compile("#d97a1c"))
    for size in (WIDE, NARROW):
        await member.resize(size)
        await expect(mention).to_be_in_viewport()
        await member.press("Members")
        await expect(member.page.get_by_role("complementary").locator("h3").nth(1)).to_contain_text("Helpers")
        coloured = member.page.locator(".members .coloured")
        await expect(coloured).to_have_text(["Edsger"])
        await expect(coloured).to_be_in_viewport()
        await member.page.get_by_role("complementary").get_by_role("button", name="Close").click()
    await page.get_by_role("button", name="Remove Edsger").click()
    await expect(member.page.get_by_role("button", name="Create text channel")).to_have_count(0)


@pytest.mark.pages("moderator")
async def test_moderators_cannot_grant_permissions_that_they_lack(server: Community) -> None:
    await create(server.moderator, "Greeters", "Create invites")
    page = server.moderator.page.get_by_role("region", name="Roles", exact=True)
    await expect(page.get_by_role("switch", name="Ban members")).to_be_disabled()
    await page.get_by_role("button", name="All roles").click()
    rows = page.get_by_role("listitem")
    await expect(rows.filter(has_text="Helpers")).to_contain_text("Not below your own role")
    await expect(page.get_by_role("button", name="Edit Owner")).to_have_count(0)
    await expect(page.get_by_role("button", name="Edit Greeters")).to_be_visible()


@pytest.mark.pages("moderator")
async def test_roles_can_be_given_and_removed_in_the_list_and_on_the_profile(
    server: Community, axe: str
) -> None:
    await create(server.moderator, "Greeters", "Create invites")
    # The first Escape closes the list for picking members.
    await server.moderator.page.keyboard.press("Escape")
    await server.moderator.page.keyboard.press("Escape")
    await expect(server.moderator.page.get_by_role("navigation", name="Settings pages")).to_have_count(0)
    await server.moderator.press("Members")
    await menu(server.moderator, "Edsger", "Edit roles")
    dialog = server.moderator.page.get_by_role("dialog", name="Roles of Edsger")
    await dialog.get_by_role("switch", name="Greeters").check()
    await expect(dialog.get_by_role("switch", name="Greeters")).to_be_checked()
    await at_both_sizes(server.moderator, axe, "a member's roles")
    await server.moderator.page.keyboard.press("Escape")
    await listed(server.moderator, "Edsger").locator("> button").click()
    profile = server.moderator.page.get_by_role("dialog", name="Edsger")
    await expect(profile.get_by_role("list", name="Roles").get_by_text("Greeters")).to_be_visible()
    await wait_for_value(lambda: roles_of(server.member), ["Greeters", "Member"])
    await profile.get_by_role("button", name="More about Edsger").click()
    await server.moderator.page.get_by_role("menuitem", name="Edit roles").click()
    await dialog.get_by_role("switch", name="Greeters").uncheck()
    await server.moderator.page.keyboard.press("Escape")
    await wait_for_value(lambda: roles_of(server.member), ["Member"])


@pytest.mark.pages("owner")
async def test_only_higher_ranked_members_can_reorder_roles(server: Community) -> None:
    page = await open_settings(server.owner, "Roles")
    names = page.locator(".managed-words > span")
    await expect(names).to_have_text(
        ["Owner", "Administrators", "Moderators", "Helpers", "Members", "Guests"]
    )
    await page.get_by_role("button", name="Move Helpers up").click()
    await expect(names).to_have_text(
        ["Owner", "Administrators", "Helpers", "Moderators", "Members", "Guests"]
    )
    await page.get_by_role("button", name="Move Members down").click()
    await expect(names).to_have_text(
        ["Owner", "Administrators", "Helpers", "Moderators", "Guests", "Members"]
    )
    await server.owner.page.keyboard.press("Control+Shift+ArrowUp")
    await expect(names).to_have_text(
        ["Owner", "Administrators", "Helpers", "Moderators", "Members", "Guests"]
    )
    rows = page.get_by_role("listitem")
    members = rows.filter(has=server.owner.page.get_by_text("Members", exact=True))
    await rows.filter(has_text="Helpers").drag_to(members)
    await expect(names).to_have_text(
        ["Owner", "Administrators", "Moderators", "Members", "Helpers", "Guests"]
    )


@pytest.mark.pages("moderator", "member")
async def test_managers_can_reorder_and_edit_the_roles_below_their_own(server: Community) -> None:
    moderator, member = server.moderator, server.member
    await create(moderator, "Greeters", "Create invites")
    await moderator.page.keyboard.press("Escape")  # Close the list for picking members.
    await moderator.page.keyboard.press("Escape")
    await create(moderator, "Gardeners", "Create invites")
    await moderator.page.get_by_role("button", name="All roles").click()
    page = moderator.page.get_by_role("region", name="Roles", exact=True)
    names, rows = page.locator(".managed-words > span"), page.get_by_role("listitem")
    above = ["Owner", "Administrators", "Moderators", "Helpers"]
    shown = await names.all_text_contents()
    first, second = [name for name in shown if name in ("Greeters", "Gardeners")]
    await expect(names).to_have_text([*above, first, second, "Members", "Guests"])
    await rows.filter(has_text=second).drag_to(rows.filter(has_text=first), target_position={"x": 40, "y": 3})
    await expect(names).to_have_text([*above, second, first, "Members", "Guests"])

    await page.get_by_role("button", name="Edit Gardeners").click()
    await page.get_by_label("Name", exact=True).fill("Stewards")
    await page.get_by_role("radio", name="#d97a1c").check()
    await page.get_by_role("button", name="Save").click()
    await expect(moderator.page.locator(".notice")).to_contain_text("Saved.")
    await pick(page, "Add a member", "edsg")
    await wait_for_value(lambda: roles_of(member), ["Stewards", "Member"])
    await member.press("Members")
    name = listed(server.member, "Edsger").locator(".coloured")
    await expect(name).to_have_attribute("style", re.compile("#d97a1c"))
    made = {role["name"]: role["id"] for role in (await ask(member, "GET", "/api/roles"))["roles"]}
    own = f"/api/roles/{made['Stewards']}"
    assert await refusal(member, "PATCH", own, {"color": "#112233"}) == "forbidden"
    assert await refusal(member, "DELETE", own) == "forbidden"
    given = f"/api/members/{await own_id(member)}/roles/{made['Greeters']}"
    assert await refusal(member, "PUT", given) == "forbidden"
    order = {"roles": list(made.values())}
    assert await refusal(member, "PUT", "/api/roles/order", order) == "forbidden"

    await page.get_by_role("button", name="Delete role").click()
    dialog = moderator.page.get_by_role("dialog", name="Delete the role Stewards?")
    await dialog.get_by_role("button", name="Delete role").click()
    await wait_for_value(lambda: roles_of(member), ["Member"])
    [newest] = (await ask(server.owner, "GET", "/api/audit?limit=1"))["entries"]
    assert (newest["action"], newest["actor_id"]) == ("role_delete", await own_id(moderator))

    # Assign the role to several members in one step.
    pages = moderator.page.get_by_role("navigation", name="Settings pages")
    await pages.get_by_role("button", name="Members", exact=True).click()
    page = moderator.page.get_by_role("region", name="Members", exact=True)
    await page.get_by_label("Select all 3 shown").check()
    await page.get_by_role("group", name="3 selected").get_by_role("button", name="Assign role").click()
    dialog = moderator.page.locator("dialog:has(.bulk-people):not(:has(dialog))")
    await dialog.get_by_label("Role").select_option("Greeters")
    await dialog.locator("button[type=submit]").click()
    await wait_for_value(lambda: roles_of(member), ["Greeters", "Member"])
    await expect(dialog).to_have_count(0)
    await page.get_by_label("Select all 3 shown").check()
    await page.get_by_role("group", name="3 selected").get_by_role("button", name="Remove role").click()
    await dialog.get_by_label("Role").select_option("Greeters")
    await dialog.locator("button[type=submit]").click()
    await wait_for_value(lambda: roles_of(member), ["Member"])


@pytest.mark.pages("owner")
async def test_changing_or_deleting_a_role_takes_effect_for_everybody(server: Community) -> None:
    page = await open_settings(server.owner, "Roles")
    await page.get_by_role("button", name="Edit Helpers").click()
    await page.get_by_label("Name", exact=True).fill("Stewards")
    save = page.get_by_role("button", name="Save")
    await expect(save).to_be_in_viewport(ratio=1)  # The page is longer than the window.
    await save.click()
    await expect(server.owner.page.locator(".notice")).to_contain_text("Saved.")
    await wait_for_value(lambda: roles_of(server.moderator), ["Stewards", "Member"])
    await page.get_by_role("button", name="Delete role").click()
    dialog = server.owner.page.get_by_role("dialog", name="Delete the role Stewards?")
    await dialog.get_by_role("button", name="Delete role").click()
    await expect(page.get_by_role("button", name="Create role")).to_be_visible()
    await wait_for_value(lambda: roles_of(server.moderator), ["Member"])
    [newest] = (await ask(server.owner, "GET", "/api/audit?limit=1"))["entries"]
    assert newest["action"] == "role_delete"


@pytest.mark.pages("member")
async def test_a_member_without_the_permission_sees_no_roles(server: Community) -> None:
    await has_no_page(server.member, "Roles")
    await server.member.press("Members")
    await expect(listed(server.member, "Ada")).to_be_visible()
    await listed(server.member, "Ada").hover()
    await server.member.press("More about Ada")
    items = ["Profile", "Mention Ada", "Copy ID", "Block Ada", "Report", "Message"]
    await expect(server.member.page.get_by_role("menuitem")).to_have_text(items)
    await server.member.page.keyboard.press("Escape")
    assert await refusal(server.member, "POST", "/api/roles", {"name": "Kings"}) == "forbidden"
