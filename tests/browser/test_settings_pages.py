"""Each permission on its own gives a moderator access to exactly its settings pages."""

from collections.abc import Mapping, Sequence

from playwright.async_api import Locator, expect

from svc.chat.access.permissions import BUILT_IN, EVERYTHING, MEMBER, names
from tests.browser.test_accessibility import axe, expect_accessible
from tests.kit.browser_users import People, Person, wide_daily
from tests.kit.community import ask, community, give, own_id, refusal

__all__ = ["axe"]

PAGES = "Settings pages"
OWN = [
    *("Profile", "Appearance and language", "Voice and video", "Notifications", "Devices", "Servers"),
    *("Blocked people", "Your data", "Session"),
]
# The pages that each permission makes visible, in the order of the settings. Permissions that are not in this
# table do not make any page visible.
OPENS = {
    "manage_channels": ["Channels"],
    "manage_nicknames": ["Members"],
    "timeout_members": ["Members"],
    "kick_members": ["Members"],
    "ban_members": ["Members", "Bans"],
    "create_invites": ["Invites"],
    "manage_invites": ["Invites"],
    "manage_roles": ["Members", "Roles"],
    "manage_automod": ["Automatic moderation"],
    "view_reports": ["Members", "Reports"],
    "view_audit_log": ["Audit log"],
    "manage_emoji": ["Emoji"],
    "manage_bots": ["Bots"],
    "manage_webhooks": ["Webhooks"],
}
OF_THE_OWNER = ["This server", "Health", "Storage", "Backups"]
RULE = {"name": "x", "kind": "links", "action": "flag"}
# The requests behind the pages, which ordinary members may not send. `{id}` stands for the owner's id.
REQUESTS: Mapping[str, Sequence[tuple[str, str, object]]] = {
    "This server": [("PATCH", "/api/settings", {"name": "Mine"})],
    "Channels": [
        ("POST", "/api/channels", {"name": "mine", "type": "text"}),
        ("PATCH", "/api/channels/general", {}),
    ],
    "Members": [
        ("PATCH", "/api/members/{id}", {"nickname": "Low"}),
        ("PUT", "/api/members/{id}/timeout", {"duration_s": 60}),
        ("POST", "/api/members/{id}/kick", {}),
        ("GET", "/api/members/{id}/moderation", None),
        ("PUT", "/api/members/{id}/roles/moderator", {}),
    ],
    "Invites": [("POST", "/api/invites", {}), ("GET", "/api/applications", None)],
    "Roles": [("POST", "/api/roles", {"name": "Kings"}), ("PUT", "/api/roles/order", {"ranks": {}})],
    "Emoji": [("PATCH", "/api/emoji/some", {"name": "mine"}), ("DELETE", "/api/emoji/some", None)],
    "Automatic moderation": [("GET", "/api/automod/rules", None), ("POST", "/api/automod/trial", RULE)],
    "Reports": [("GET", "/api/reports", None), ("POST", "/api/reports/some/resolve", {})],
    "Bans": [("GET", "/api/bans", None), ("PUT", "/api/bans/{id}", {})],
    "Audit log": [("GET", "/api/audit", None)],
    "Bots": [("GET", "/api/bots", None), ("POST", "/api/bots", {"nickname": "Mine"})],
    "Webhooks": [("POST", "/api/webhooks", {"name": "Mine", "channel_id": "general"})],
    "Health": [("GET", "/api/health", None)],
    "Storage": [("GET", "/api/storage", None)],
    "Backups": [("GET", "/api/backups", None), ("POST", "/api/backups", {})],
}


async def settings(person: Person) -> Locator:
    await person.press("Settings")
    return person.page.get_by_role("navigation", name=PAGES).get_by_role("button")


async def answers(person: Person, page: str) -> None:
    """Check that the page has loaded its data and has no pending or failed requests."""
    buttons = person.page.get_by_role("navigation", name=PAGES).get_by_role("button", name=page, exact=True)
    await buttons.click()
    region = person.page.get_by_role("region", name=page, exact=True)
    await expect(region.get_by_role("heading", name=page, exact=True)).to_be_visible()
    await expect(region.locator("h3 ~ *").first).to_be_visible()
    await expect(region.get_by_text("Loading…", exact=True)).to_have_count(0)
    await expect(region.get_by_role("alert")).to_have_count(0)


async def test_every_permission_shows_exactly_its_settings_pages(people: People) -> None:
    server = await community(people)
    owner, moderator, member = server.owner, server.moderator, server.member
    # Remove a permission that members have by default, so that it is tested like the others.
    remaining = [name for name in names(BUILT_IN[MEMBER].permissions) if name != "create_invites"]
    await ask(owner, "PATCH", "/api/roles/member", {"permissions": remaining})
    role = await give(owner, moderator, [], "Alone")
    theirs = await settings(moderator)
    await expect(theirs).to_have_text(OWN)
    for permission in names(EVERYTHING):
        await ask(owner, "PATCH", f"/api/roles/{role}", {"permissions": [permission]})
        pages = OPENS.get(permission, [])
        await expect(theirs).to_have_text([*OWN, *pages])
        for page in pages:
            await answers(moderator, page)

    all_pages = REQUESTS.keys()
    assert {page for pages in OPENS.values() for page in pages} | {*OF_THE_OWNER} == all_pages
    await expect(await settings(owner)).to_have_text([*OWN, *all_pages])
    for page in OF_THE_OWNER:
        await answers(owner, page)

    await expect(await settings(member)).to_have_text(OWN)
    ada = await own_id(owner)
    for requests in REQUESTS.values():
        for method, path, body in requests:
            assert await refusal(member, method, path.format(id=ada), body) == "forbidden", (method, path)


@wide_daily
async def test_a_setting_can_be_found_by_words_in_its_name(people: People, axe: str) -> None:
    ada = await people.arrive("Ada")
    await ada.come_in()
    await ada.show_channels()
    pages = await settings(ada)
    unfold = ada.page.get_by_role("button", name="All settings")
    field = ada.page.get_by_role("searchbox", name="Search settings")
    await expect(unfold.or_(field)).to_be_visible()
    if await unfold.is_visible():
        await unfold.click()
    await field.fill("Zzz")
    await expect(ada.page.get_by_role("status").get_by_text("No results.")).to_be_visible()
    await field.fill("SPEAKer")
    await expect(pages.and_(ada.page.locator("li button"))).to_have_text(["Voice and videoSpeaker"])
    await expect_accessible(ada, axe, "search results in the settings")
    await field.press("Enter")
    await expect(ada.page.get_by_role("region", name="Voice and video")).to_be_visible()
