"""Invite links can be created, displayed as QR codes, listed and revoked in the web client."""

import time
from collections.abc import Sequence
from urllib.parse import parse_qs, urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.browser.test_accessibility import SIZES, axe, expect_accessible
from tests.kit.browser_users import People, Person
from tests.kit.community import (
    ROLES,
    Community,
    ask,
    community,
    confirm,
    has_no_page,
    open_settings,
    refusal,
)
from tests.kit.wait import wait_for_value

__all__ = ["axe"]

DAY_MS = 24 * 3600 * 1000


async def where_only_they_may(people: People, permission: str, pages: Sequence[str] = ROLES) -> Community:
    """Create a community. Only its moderator has this permission, and members may not create invites."""
    server = await community(people, permission, pages=pages)
    [member] = [r for r in (await ask(server.owner, "GET", "/api/roles"))["roles"] if r["id"] == "member"]
    remaining = [name for name in member["permissions"] if name != "create_invites"]
    await ask(server.owner, "PATCH", "/api/roles/member", {"permissions": remaining})
    if "member" in pages:
        await expect(server.member.page.get_by_role("button", name="Invite people")).to_have_count(0)
    return server


@pytest_asyncio.fixture(loop_scope="session")
async def server(people: People, pages: Sequence[str]) -> Community:
    return await where_only_they_may(people, "create_invites", pages)


async def make(person: Person, **choices: str) -> str:
    """Create a link. `choices` maps labels of fields to values. Return the link's URL."""
    await person.press("Invite people")
    dialog = person.page.get_by_role("dialog", name="Invite people")
    for label, option in choices.items():
        await dialog.get_by_label(label.replace("_", " ")).select_option(option)
    await dialog.get_by_role("button", name="Create link").click()
    await expect(dialog.get_by_role("img", name="QR code")).to_be_visible()
    return await dialog.get_by_label("Invite link").input_value()


def code_of(address: str) -> str:
    return parse_qs(urlsplit(address).fragment)["invite"][0]


@pytest.mark.usefixtures("whole_browser")
@pytest.mark.pages("moderator")
async def test_a_person_can_join_with_a_link_created_in_the_web_client(
    server: Community, people: People
) -> None:
    await ask(server.owner, "POST", "/api/channels", {"name": "plans", "type": "text"})
    before_ms = time.time() * 1000
    address = await make(
        server.moderator, Expires_after="1 day", Number_of_uses="1 person", Welcome_channel="plans"
    )
    [invite] = (await ask(server.moderator, "GET", "/api/invites"))["invites"]
    assert before_ms <= invite["expires_at_ms"] - DAY_MS <= time.time() * 1000
    await server.moderator.page.context.grant_permissions(["clipboard-read"])
    page = server.moderator.page
    await wait_for_value(lambda: page.evaluate("() => navigator.clipboard.readText()"), address)
    guest = await people.arrive("Barbara")
    await guest.page.goto(address)
    await guest.page.reload()
    await guest.come_in()
    await expect(guest.page.locator("#text-name")).to_have_text("plans")
    invites = (await ask(server.owner, "GET", "/api/invites"))["invites"]
    assert code_of(address) not in {invite["code"] for invite in invites}, (
        "the invite was valid for one person"
    )
    await server.moderator.page.keyboard.press("Escape")
    address = await make(server.moderator)
    guest = await people.arrive("Frances")
    await guest.page.goto(address)
    await guest.page.reload()
    await guest.come_in()
    await server.moderator.page.keyboard.press("Escape")
    settings = await open_settings(server.moderator, "Invites")
    await settings.get_by_role("listitem").get_by_role("button", name="Show joined members").click()
    await expect(settings.get_by_role("listitem")).to_contain_text("Joined with this link: Frances")


@pytest.mark.pages("owner", "moderator")
async def test_a_moderator_can_see_and_revoke_their_own_links(server: Community) -> None:
    other = code_of(await make(server.owner))
    own = code_of(await make(server.moderator, Expires_after="Never expires"))
    await server.moderator.page.keyboard.press("Escape")
    page = await open_settings(server.moderator, "Invites")
    await expect(page.get_by_role("listitem")).to_have_count(1)
    await expect(page.get_by_role("listitem")).to_contain_text(
        f"{own}by Grace · not used yet · Never expires"
    )
    await page.get_by_role("button", name=f"Revoke {own}").click()
    await confirm(server.moderator, "Revoke")
    await expect(page.get_by_text("There are no active invites.")).to_be_visible()
    await server.owner.page.keyboard.press("Escape")
    page = await open_settings(server.owner, "Invites")
    await expect(page.get_by_role("listitem").filter(has_text=other)).to_have_count(1)
    await expect(page.get_by_role("listitem").filter(has_text=own)).to_have_count(0)


@pytest.mark.pages("owner", "moderator")
async def test_only_members_who_may_grant_roles_can_add_a_role_to_a_link(server: Community) -> None:
    await server.owner.press("Invite people")
    await expect(server.owner.page.get_by_label("Role for new members")).to_be_visible()
    await server.moderator.press("Invite people")
    await expect(server.moderator.page.get_by_label("Expires after")).to_be_visible()
    await expect(server.moderator.page.get_by_label("Role for new members")).to_have_count(0)


async def make_for_approval(person: Person) -> str:
    """Create a link that requires approval. Return its URL."""
    await person.press("Invite people")
    await person.page.get_by_role("switch", name="Require approval").check()
    await person.press("Create link")
    address = await person.page.get_by_label("Invite link").input_value()
    await person.page.keyboard.press("Escape")
    return address


async def applicant(people: People, address: str, name: str = "Barbara") -> Person:
    """Open a page as an applicant who is waiting for approval."""
    guest = await people.arrive(name)
    await guest.page.goto(address)
    await guest.page.reload()
    await guest.page.get_by_label("Your name").fill(name)
    await guest.page.locator("form button[type=submit]").first.click()
    await expect(guest.page.get_by_label("Your name")).to_have_count(0)
    return guest


@pytest.mark.pages("owner", "moderator")
async def test_applicants_can_be_approved_or_rejected_in_the_web_client(
    server: Community, people: People, axe: str
) -> None:
    address = await make_for_approval(server.moderator)
    for name in ("Frances", "Barbara"):
        guest = await applicant(people, address, name)
    page = await open_settings(server.owner, "Invites")
    waiting = page.get_by_role("list", name="Requests to join")
    await expect(waiting.get_by_role("listitem")).to_have_count(2)
    for size in SIZES.values():
        for person, where in (
            (server.owner, "people who wait to be let in"),
            (guest, "waiting to be let in"),
        ):
            await person.resize(size)
            await expect_accessible(person, axe, where)
    await server.owner.resize(SIZES["wide"])
    await (
        waiting.get_by_role("listitem")
        .filter(has_text="Frances")
        .get_by_role("button", name="Approve")
        .click()
    )
    await expect(waiting.get_by_role("listitem")).to_have_count(1)
    await expect(waiting).to_contain_text("Barbara")
    await waiting.get_by_role("button", name="Decline").click()
    await expect(waiting).to_have_count(0)
    await expect(guest.page.get_by_role("alert")).to_contain_text("Your request to join was declined.")
    entries = (await ask(server.owner, "GET", "/api/audit?limit=3"))["entries"]
    assert [entry["action"] for entry in entries][:2] == ["application_refuse", "application_approve"]


async def test_invite_managers_can_approve_applicants_and_revoke_other_members_links(
    people: People,
) -> None:
    server = await where_only_they_may(people, "manage_invites", pages=("owner", "moderator"))
    address = await make_for_approval(server.owner)
    code = code_of(address)
    guest = await applicant(people, address)
    page = await open_settings(server.moderator, "Invites")
    await expect(page.get_by_role("button", name="Invite people")).to_have_count(0)
    await page.get_by_role("list", name="Requests to join").get_by_role("button", name="Approve").click()
    await expect(guest.page.locator("#own-name")).to_have_text("Barbara")
    await page.get_by_role("button", name=f"Revoke {code}").click()
    await confirm(server.moderator, "Revoke")
    await expect(page.get_by_text(code)).to_have_count(0)
    left = (await ask(server.owner, "GET", "/api/invites"))["invites"]
    assert code not in {invite["code"] for invite in left}


@pytest.mark.pages("member")
async def test_a_member_without_the_permission_sees_no_invites(server: Community) -> None:
    await has_no_page(server.member, "Invites")
    assert await refusal(server.member, "POST", "/api/invites", {"approval": True}) == "forbidden"
