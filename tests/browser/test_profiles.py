"""Members can manage their devices and data, edit their profiles, and block and report other members."""

import json
import re
from pathlib import Path

from playwright.async_api import Locator, expect

from tests.browser.test_accessibility import at_both_sizes, axe, expect_accessible
from tests.browser.test_sign_up import invited, is_in, without_invite
from tests.kit.browser_users import People, Person, narrow_only, wide_only
from tests.kit.community import ask, confirm, own_id, post
from tests.kit.notifications import mention
from tests.kit.pictures import encoded, scene
from tests.kit.svc_up import SvcUp
from tests.kit.text_channels import do, message, write

__all__ = ["axe"]


async def settings(person: Person, page: str) -> Locator:
    await person.show_channels()
    await person.press("Settings")
    await person.press(page)
    return person.page.get_by_role("region", name=page)


@narrow_only
async def test_another_device_can_be_linked_with_the_displayed_code_and_unlinked_again(
    people: People, product: SvcUp, axe: str
) -> None:
    ada = await people.arrive("Ada", reads="general")
    page = await settings(ada, "Devices")
    await expect(page.get_by_text("This is your only device.")).to_be_visible()
    await ada.press("Link another device")
    await expect(page.get_by_role("img", name="Link as a QR code")).to_be_visible()
    shown = (await page.locator(".big-code").inner_text()).strip()
    assert len(shown.split()) == 4
    await expect_accessible(ada, axe, "the code for another device")

    phone = await people.arrive("Ada", url=without_invite(product))
    await phone.press("I’m already a member on another device")
    # The code is displayed in groups, because people read it aloud.
    await phone.page.get_by_label("Code", exact=True).fill(shown)
    await phone.press("Add device")
    await is_in(phone, "Ada")

    # The first page is notified that the code has been used.
    await expect(page.get_by_role("listitem")).to_have_count(2)
    await expect(page.locator(".big-code")).to_have_count(0)
    await page.get_by_role("listitem").filter(has_not_text="This device").get_by_role("button").click()
    await confirm(ada, "Unlink")
    await expect(page.get_by_role("listitem")).to_have_count(1)
    await expect(phone.page.get_by_role("button", name="Sign in as Ada")).to_be_visible()


@wide_only
async def test_the_owner_can_recover_a_member_who_lost_all_devices(people: People, axe: str) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.join("Grace")
    await post(grace, "My phone is acting up")
    await message(ada, "acting up").locator("button.author").click()
    await ada.press("More about Grace")
    await ada.page.get_by_role("menuitem", name="Create recovery code").click()
    dialog = ada.page.get_by_role("dialog", name="Recovery code for Grace")
    await expect(dialog).to_contain_text("The other devices are signed out.")
    await dialog.get_by_role("button", name="Create recovery code").click()
    await expect(dialog.get_by_label("Recovery code")).to_have_value(re.compile(r"^\w{16}$"))
    await expect_accessible(ada, axe, "a code for a member without devices")


@narrow_only
async def test_an_owner_can_neither_unlink_the_only_device_nor_leave(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    page = await settings(ada, "Devices")
    await page.get_by_role("listitem").get_by_role("button").click()
    await confirm(ada, "Unlink")
    await expect(ada.page.locator(".notice")).to_contain_text("This is your last device")
    await is_in(ada, "Ada")
    await ada.page.keyboard.press("Escape")
    page = await settings(ada, "Your data")
    await expect(
        page.get_by_text("You’re the owner. Transfer ownership to someone else first.")
    ).to_be_visible()
    await expect(page.get_by_role("button", name="Leave server")).to_be_disabled()
    await expect(page.get_by_role("button", name="Delete your data")).to_be_disabled()


@wide_only
async def test_discarding_the_only_key_and_signing_out_warn_about_the_loss(people: People, axe: str) -> None:
    ada = await people.arrive("Ada", reads="general")
    page = await settings(ada, "Session")
    await expect(page.get_by_text("This is your only device.")).to_be_visible()
    await ada.press("Use another identity")
    question = ada.page.get_by_role("dialog", name="Give up your identity on this server?")
    await expect(question).to_contain_text("nobody can be Ada here again")
    await confirm(ada, "Cancel")
    await ada.press("Sign out")
    question = ada.page.get_by_role("dialog", name="Sign out?")
    await expect(question).to_contain_text("link another one")
    await expect_accessible(ada, axe, "the confirmation to sign out")
    await confirm(ada, "Sign out")
    await expect(ada.page.get_by_role("button", name="Sign in as Ada")).to_be_visible()
    await expect_accessible(ada, axe, "the page after signing out")
    # The key is still on this device and is lost only after an explicit confirmation.
    await ada.press("Use another identity")
    question = ada.page.get_by_role("dialog", name="Give up your identity on this server?")
    await expect(question).to_contain_text("including you")
    await expect_accessible(ada, axe, "the confirmation to give up an identity")
    await confirm(ada, "Cancel")
    await ada.press("Sign in as Ada")
    await is_in(ada, "Ada")


@wide_only
async def test_an_export_is_downloaded_as_a_file(people: People, tmp_path: Path) -> None:
    ada = await people.arrive("Ada", reads="general")
    await write(ada, "Something to take along")
    await settings(ada, "Your data")
    async with ada.page.expect_download() as downloading:
        await ada.press("Download data")
    download = await downloading.value
    assert download.suggested_filename == "my-data.json"
    await download.save_as(tmp_path / "mine.json")
    exported = json.loads((tmp_path / "mine.json").read_text())
    assert "Something to take along" in json.dumps(exported["messages"])


@wide_only
async def test_changes_to_name_status_and_avatar_are_visible_to_others(people: People, axe: str) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.arrive("Grace", reads="general")
    await write(ada, "It is me")
    page = await settings(ada, "Profile")
    # The server does not accept a document as a picture.
    await page.locator("input[type=file]").set_input_files(
        {"name": "plan.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.4 plan"}
    )
    notice = ada.page.locator(".notice")
    await expect(notice).to_contain_text("picture")
    await expect(notice).not_to_contain_text("video")
    await expect(page.get_by_role("button", name="Remove picture")).to_have_count(0)

    name, status = page.get_by_label("Your name"), page.get_by_label("Status")
    save = page.get_by_role("button", name="Save")
    await expect(save).to_have_count(0)
    await status.fill("Counting sheep")
    await expect(save).to_be_visible()
    await page.get_by_role("button", name="Discard").press("Enter")
    await expect(status).to_have_value("")
    await expect(save).to_have_count(0)
    await expect(page).to_be_focused()
    await name.fill("  ")
    await name.press("Enter")
    await expect(name).to_have_attribute("aria-invalid", "true")
    await name.fill("Ada Lovelace")
    await status.fill("Counting")
    await save.click()
    await expect(name).not_to_have_attribute("aria-invalid", "true")
    await page.locator("input[type=file]").set_input_files(
        {"name": "me.png", "mimeType": "image/png", "buffer": encoded(scene(80, 60), "PNG")}
    )
    await expect(page.get_by_role("button", name="Remove picture")).to_be_visible()
    posted = message(grace, "It is me")
    await expect(posted.locator(".author")).to_have_text("Ada Lovelace")
    await expect(posted.locator(".avatar img")).to_have_js_property("complete", True)
    await posted.locator(".author").click()
    card = grace.page.get_by_role("dialog", name="Ada Lovelace")
    await expect(card.get_by_text("Counting")).to_be_visible()
    await expect(card.locator(".avatar img")).to_be_visible()
    await at_both_sizes(grace, axe, "a profile with a picture")
    await page.get_by_role("button", name="Remove picture").click()
    await expect(card.locator(".avatar img")).to_have_count(0)


@narrow_only
async def test_messages_from_a_member_blocked_on_their_profile_are_hidden_everywhere(
    people: People, axe: str
) -> None:
    ada = await people.join("Ada")
    grace = await people.arrive("Grace", reads="general")
    await post(ada, "Something unkind")
    await do(grace, "Something unkind", "Reply")
    await write(grace, "Please stop")
    await message(grace, "Something unkind").first.locator("button.author").click()
    card = grace.page.get_by_role("dialog", name="Ada")
    await card.get_by_role("button", name="Block Ada").click()
    await expect(card.get_by_role("button", name="Unblock Ada")).to_be_visible()
    await grace.page.keyboard.press("Escape")
    await mention(ada, grace, "again and again")
    # The member's messages are hidden in the channel, in replies and in searches, and make no sound.
    hidden = grace.page.locator(".message").filter(has_text="Message from a blocked member")
    await expect(hidden).to_have_count(3)
    await expect(grace.page.get_by_text("Something unkind")).to_have_count(0)
    await expect(grace.page.get_by_text("again and again")).to_have_count(0)
    await expect_accessible(grace, axe, "messages of a blocked member")
    await expect(grace.page.get_by_role("button", name="Mentions", exact=True)).to_be_visible()
    await grace.press("Search messages")
    await grace.page.get_by_role("searchbox").fill("unkind")
    await grace.page.keyboard.press("Enter")
    await expect(grace.page.locator(".message-line")).to_contain_text("Message from a blocked member")
    await grace.page.keyboard.press("Escape")
    # A click reveals one message, and unblocking reveals all.
    await hidden.first.get_by_role("button", name="Show").click()
    await expect(grace.page.locator(".message").first).to_contain_text("Something unkind")
    await grace.page.locator(".message button.author").first.click()
    await card.get_by_role("button", name="Unblock Ada").click()
    await grace.page.keyboard.press("Escape")
    await expect(hidden).to_have_count(0)
    await expect(message(grace, "again and again")).to_be_visible()
    # The settings list all blocked members.
    await ask(grace, "PUT", f"/api/me/blocks/{await own_id(ada)}")
    page = await settings(grace, "Blocked people")
    await page.get_by_role("button", name="Unblock Ada").click()
    await expect(page.get_by_text("You haven’t blocked anyone.")).to_be_visible()


@narrow_only
async def test_a_member_who_left_can_rejoin_as_a_new_member(people: People, product: SvcUp, axe: str) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.arrive("Grace", reads="general")
    await write(grace, "I was here")
    await settings(grace, "Your data")
    await grace.press("Leave server")
    question = grace.page.get_by_role("dialog", name="Leave")
    await expect(question).to_contain_text("Your messages stay under your name.")
    await expect_accessible(grace, axe, "the confirmation to leave")
    await confirm(grace, "Leave server")
    await expect(grace.page.get_by_text("You left the server.")).to_be_visible()
    await expect(message(ada, "I was here")).to_be_visible()
    # Grace no longer has an account and gets the form for new members.
    await grace.page.goto("about:blank")
    await grace.page.goto(await invited(ada, product))
    await grace.press("Sign in as Grace")
    await expect(grace.page.get_by_label("Your name")).to_have_value("Grace")
    await grace.press("Join")
    await is_in(grace, "Grace")


@wide_only
async def test_deleting_everything_requires_typing_the_name(people: People, axe: str) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.arrive("Grace", reads="general")
    await write(grace, "Soon gone")
    await expect(message(ada, "Soon gone")).to_be_visible()
    await settings(grace, "Your data")
    await grace.press("Delete your data")
    question = grace.page.get_by_role("dialog", name="Delete all your data?")
    await expect(question.get_by_role("button", name="Delete your data")).to_be_disabled()
    await question.get_by_role("textbox").fill("Grace")
    await expect_accessible(grace, axe, "the confirmation to delete all data")
    await confirm(grace, "Delete your data")
    await expect(grace.page.get_by_text("Your data is being deleted.")).to_be_visible()
    await expect(message(ada, "Soon gone")).to_have_count(0)


@wide_only
async def test_messages_and_members_can_be_reported_to_the_moderators(people: People, axe: str) -> None:
    ada = await people.join("Ada")
    grace = await people.arrive("Grace", reads="general")
    await post(ada, "Something unkind")
    await do(grace, "Something unkind", "More")
    await grace.page.get_by_role("menuitem", name="Report to moderators").click()
    dialog = grace.page.get_by_role("dialog", name="Report a message from Ada")
    await expect(dialog).to_contain_text("Something unkind")
    field = dialog.get_by_label("What’s wrong?")
    await expect(field).to_be_focused()
    await dialog.get_by_role("button", name="Send report").click()
    await expect(field).to_have_attribute("aria-invalid", "true")
    await at_both_sizes(grace, axe, "the report of a message")
    await field.fill("This hurts somebody.")
    await dialog.get_by_role("button", name="Send report").click()
    await expect(grace.page.get_by_text("Report sent to the moderators.")).to_be_visible()

    await grace.page.locator(".message button.author").first.click()
    await grace.press("Report")
    dialog = grace.page.get_by_role("dialog", name="Report Ada")
    await dialog.get_by_label("What’s wrong?").fill("Again.")
    await dialog.get_by_role("button", name="Send report").click()
    await expect(dialog).to_have_count(0)
    reports = (await ask(ada, "GET", "/api/reports"))["reports"]
    assert [(report["text"], bool(report["message_id"])) for report in reports] == [
        ("Again.", False),
        ("This hurts somebody.", True),
    ]


@wide_only
async def test_clicking_a_name_opens_the_profile_and_right_clicking_it_opens_the_menu(
    people: People, axe: str
) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.join("Grace")
    await post(grace, "Here I am")
    posted = message(ada, "Here I am")
    name = posted.get_by_role("button", name="Grace", exact=True)
    await name.click()
    profile = ada.page.get_by_role("dialog", name="Grace")
    # "Mention" on the profile starts a message to the member.
    await profile.get_by_role("button", name="Mention Grace").click()
    await expect(ada.page.locator("#draft")).to_be_focused()
    await expect(ada.page.locator("#draft")).to_have_value("@Grace ")
    await ada.page.locator("#draft").fill("")
    await name.click()
    # The profile's menu does not repeat actions that are buttons on the profile.
    await expect(profile.get_by_role("button", name="Message")).to_be_visible()
    await at_both_sizes(ada, axe, "another member's profile")
    await profile.get_by_role("button", name="More about Grace").click()
    await expect(profile.get_by_role("menuitem", name="Edit roles")).to_be_visible()
    await expect_accessible(ada, axe, "the menu of a profile")
    await expect(
        profile.get_by_role("menuitem", name=re.compile("^(Message|Moderation history)$"))
    ).to_have_count(0)
    await ada.page.keyboard.press("Escape")
    await ada.page.keyboard.press("Escape")
    await posted.locator(".avatar-place").click(button="right")
    menu = ada.page.get_by_role("menu", name="More about Grace")
    await expect(menu.get_by_role("menuitem").first).to_be_focused()
    # The menu contains all actions for the owner.
    for item in ("Profile", "Copy ID", "Edit roles", "Block Grace", "Report"):
        await expect(menu.get_by_role("menuitem", name=item)).to_be_visible()
    await expect_accessible(ada, axe, "the menu of a person")
    await menu.get_by_role("menuitem", name="Mention Grace").click()
    await expect(ada.page.locator("#draft")).to_have_value("@Grace ")
    await name.focus()
    await name.dispatch_event("contextmenu")
    await expect(menu.get_by_role("menuitem").first).to_be_focused()
    await ada.page.keyboard.press("Escape")
    await expect(menu).to_have_count(0)
    await expect(name).to_be_focused()
    # The member list has the same menu. It contains fewer actions for one's own entry.
    await ada.press("Members")
    members = ada.page.get_by_role("list", name="Members")
    await members.get_by_role("button", name="Grace", exact=True).click(button="right")
    await menu.get_by_role("menuitem", name="Profile").click()
    await expect(ada.page.get_by_role("dialog", name="Grace")).to_be_visible()
    await ada.page.keyboard.press("Escape")
    await members.get_by_role("button", name="Ada", exact=True).click(button="right")
    own = ada.page.get_by_role("menu", name="More about Ada")
    await expect(own.get_by_role("menuitem", name="Copy ID")).to_be_visible()
    await expect(own.get_by_role("menuitem", name="Report")).to_have_count(0)
