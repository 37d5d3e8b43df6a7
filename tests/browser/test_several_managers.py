"""A manager's change to a list appears immediately for other managers who have the list open."""

from urllib.parse import urlencode

from playwright.async_api import Locator, Page, expect

from tests.kit.browser_users import People, Person
from tests.kit.community import Community, ask, community, give, open_settings, own_id
from tests.kit.text_channels import entry

MANAGING = ("ban_members", "manage_webhooks", "manage_invites", "manage_bots", "manage_channels")


async def both_at(server: Community, page: str) -> tuple[Locator, Locator]:
    """Open the same settings page as the owner and as the moderator. Return both pages."""
    return await two_at(server.owner, server.moderator, page)


async def two_at(one: Person, other: Person, page: str) -> tuple[Locator, Locator]:
    for person in (one, other):
        await person.page.keyboard.press("Escape")
    return await open_settings(one, page), await open_settings(other, page)


async def confirm(person: Person, title: str, button: str) -> None:
    question = person.page.get_by_role("dialog", name=title)
    await question.get_by_role("button", name=button, exact=True).click()
    await expect(question).to_have_count(0)


async def test_open_lists_show_another_managers_changes(people: People) -> None:
    server = await community(people, *MANAGING, pages=("owner", "moderator"))
    edsger = await own_id(server.member)

    owners, moderators = await both_at(server, "Bans")
    await expect(moderators.get_by_text("Nobody is banned.")).to_be_visible()
    await ask(server.owner, "PUT", f"/api/bans/{edsger}", {"reason": "Sells watches"})
    for page in (owners, moderators):
        await expect(page.get_by_role("listitem")).to_contain_text("Sells watches")
    await moderators.get_by_role("button", name="Unban").click()
    await confirm(server.moderator, "Unban Edsger?", "Unban")
    await expect(owners.get_by_text("Nobody is banned.")).to_be_visible()

    owners, moderators = await both_at(server, "Bots")
    await moderators.get_by_label("Bot name").fill("Weather")
    await moderators.get_by_role("button", name="Create bot").click()
    await server.moderator.press("I’ve saved it")
    await expect(owners.get_by_role("listitem")).to_contain_text("token created by Grace")
    await owners.get_by_role("button", name="More about Weather").click()
    await server.owner.page.get_by_role("menuitem", name="Replace token").click()
    await confirm(server.owner, "Replace the token for Weather?", "Replace token")
    await server.owner.press("I’ve saved it")
    await expect(moderators.get_by_role("listitem")).to_contain_text("token created by Ada")
    for person, page in ((server.owner, owners), (server.moderator, moderators)):
        await page.get_by_role("button", name="More about Weather").click()
        await person.page.get_by_role("menuitem", name="Delete bot").click()
    # Both see the prompt. The second one learns that the first was quicker.
    for person in (server.owner, server.moderator):
        await confirm(person, "Delete the bot Weather?", "Delete bot")
    await expect(server.moderator.page.locator(".notice")).to_contain_text(
        ["This person is no longer a member."]
    )
    for page in (owners, moderators):
        await expect(page.get_by_text("There are no bots yet.")).to_be_visible()

    owners, moderators = await both_at(server, "Invites")
    made = await ask(server.moderator, "POST", "/api/invites", {})
    for page in (owners, moderators):
        await page.get_by_role("button", name=f"Revoke {made['code']}").click()
    for person in (server.owner, server.moderator):
        await confirm(person, "Revoke this link?", "Revoke")
    await expect(server.moderator.page.locator(".notice")).to_contain_text(
        ["This invite was revoked or has expired."]
    )
    for page in (owners, moderators):
        await expect(page.get_by_role("button", name=f"Revoke {made['code']}")).to_have_count(0)


async def test_a_webhook_that_another_manager_has_open_can_be_changed_and_deleted(people: People) -> None:
    server = await community(people, *MANAGING, pages=("owner", "moderator"))
    owners, moderators = await both_at(server, "Webhooks")
    await moderators.get_by_label("Webhook name").fill("Builds")
    await moderators.get_by_role("button", name="Create webhook").click()
    await expect(moderators.get_by_label("URL", exact=True)).to_be_visible()
    await owners.get_by_role("button", name="Edit Builds").click()
    await owners.get_by_label("Webhook name").fill("Nightly")
    await owners.get_by_role("button", name="Save", exact=True).click()
    await expect(moderators.get_by_label("Webhook name")).to_have_value("Nightly")
    for page in (owners, moderators):
        await page.get_by_role("button", name="Delete webhook").click()
    await confirm(server.owner, "Delete the webhook Nightly?", "Delete webhook")
    # The confirmation dialog disappears together with the webhook.
    await expect(server.moderator.page.locator("dialog.confirm")).to_have_count(0)
    for person, page in ((server.owner, owners), (server.moderator, moderators)):
        await expect(page.get_by_text("There are no webhooks you can manage.")).to_be_visible()
        await expect(person.page.locator(".notice")).to_contain_text(["The webhook Nightly was deleted."])


async def test_an_open_permissions_view_shows_another_managers_changes(people: People) -> None:
    server = await community(people, *MANAGING, pages=("owner", "moderator"))
    for person in (server.owner, server.moderator):
        await entry(person, "general").hover()
        await person.press("More about general")
        await person.page.get_by_role("menuitem", name="Permissions", exact=True).click()

    def choice(person: Person, permission: str) -> Locator:
        return person.page.get_by_role("group", name=permission).get_by_role("radio", name="Deny")

    await choice(server.owner, "Add reactions").check()
    await expect(choice(server.moderator, "Add reactions")).to_be_checked()
    await choice(server.moderator, "Attach files").check()
    await expect(choice(server.owner, "Attach files")).to_be_checked()
    [override] = (await ask(server.owner, "GET", "/api/channels/general/overrides"))["overrides"]
    assert sorted(override["deny"]) == ["add_reactions", "attach_files"]


async def test_an_applicant_is_approved_by_one_of_two_moderators(people: People) -> None:
    server = await community(people, *MANAGING, pages=("moderator", "member"))
    await give(server.owner, server.member, MANAGING, "Stewards")
    first, second = await two_at(server.member, server.moderator, "Invites")
    invite = await ask(server.owner, "POST", "/api/invites", {"approval": True})
    guest = await people.arrive("Barbara")
    await guest.page.goto(f"{guest.page.url.split('#')[0]}#{urlencode({'invite': invite['code']})}")
    await guest.page.reload()
    await guest.page.get_by_label("Your name").fill("Barbara")
    await guest.page.locator("form button[type=submit]").first.click()
    for page in (first, second):
        await expect(page.get_by_role("list", name="Requests to join")).to_contain_text("Barbara")
    await second.get_by_role("button", name="Approve").click()
    for page in (first, second):
        await expect(page.get_by_role("list", name="Requests to join")).to_have_count(0)
        # The use of the invite appears in the list without a reload.
        await expect(page.get_by_role("listitem").filter(has_text=invite["code"])).to_contain_text(
            "used once"
        )


async def test_backups_are_listed_on_all_of_the_owners_pages(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    other: Page = await ada.page.context.new_page()
    await other.goto(ada.page.url)
    first, second = [await open_settings(Person("Ada", page), "Backups") for page in (ada.page, other)]
    await first.get_by_role("button", name="Create backup").click()
    for page in (first, second):
        await expect(page.get_by_role("button", name="Download")).to_be_visible()
    await second.get_by_role("button", name="Delete").click()
    question = other.get_by_role("dialog", name="Delete this backup?")
    await question.get_by_role("button", name="Delete").click()
    await expect(first.get_by_text("There are no backups on the server.")).to_be_visible()
