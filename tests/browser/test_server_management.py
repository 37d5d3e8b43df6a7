"""Owners can change server settings and create backups. Permitted members can manage webhooks, emoji and
bots.
"""

import asyncio
import io
import re
import sqlite3
import sys
import tarfile
from asyncio.subprocess import DEVNULL
from collections.abc import Sequence
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from sqlite3 import sqlite_version

import pytest
import pytest_asyncio
from playwright.async_api import Route, expect

from tests.browser.test_accessibility import at_both_sizes, axe
from tests.kit.browser_users import People
from tests.kit.community import (
    Community,
    ask,
    changes_settings,
    community,
    has_no_page,
    listed,
    open_settings,
    refusal,
)
from tests.kit.pictures import encoded, scene
from tests.kit.text_channels import box, do, message, write
from tests.kit.wait import wait_for_value, wait_until

__all__ = ["axe"]

ALMOST_ALL = ("manage_channels", "manage_roles", "ban_members", "view_audit_log", "manage_bots")
SPEAK = """([token, text]) => fetch("/api/channels/general/messages", {
  method: "POST",
  headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
  body: JSON.stringify({ text }),
})"""

LOOK_AT_BOTS = """async (token) => {
  const headers = { Authorization: `Bearer ${token}` };
  return (await fetch("/api/bots", { headers })).status;
}"""
BY = ("By type", "By member")
KEPT_TEXTS = "SELECT count(*) FROM messages WHERE text = 'To be kept'"


def texts_in(backup: Path) -> int:
    """Count the occurrences of the expected message in a backup."""
    kept = backup.with_name("database.sqlite3")
    with tarfile.open(backup) as archive, archive.extractfile(kept.name) or io.BytesIO() as inside:
        kept.write_bytes(inside.read())
    with closing(sqlite3.connect(kept)) as database:
        return int(database.execute(KEPT_TEXTS).fetchone()[0])


@pytest_asyncio.fixture(loop_scope="session")
async def server(people: People, pages: Sequence[str]) -> Community:
    return await community(people, "manage_webhooks", pages=pages)


async def test_the_owner_can_name_the_server_and_set_the_join_policy(server: Community) -> None:
    page = await open_settings(server.owner, "This server")
    await page.get_by_label("Server name").fill("Gardeners")
    await page.get_by_role("button", name="Save").click()
    await expect(server.member.page.locator(".server-head h2")).to_have_text("Gardeners")
    # The response to a choice must not undo the next choice, whose response is still pending.
    held = asyncio.Event()

    async def hold(route: Route) -> None:
        if "profanityMode" in (route.request.post_data or ""):
            await held.wait()
        await route.continue_()

    await server.owner.page.route("**/api/settings", hold)
    await page.get_by_role("radio", name="Censor").check()
    async with server.owner.page.expect_response(changes_settings):
        await page.get_by_role("radio", name="Anyone").check()
    await expect(page.get_by_role("radio", name="Censor")).to_be_checked()
    held.set()
    await page.get_by_role("switch", name="Link previews").uncheck()
    await expect(page.get_by_role("switch", name="Link previews")).not_to_be_checked()

    async def kept() -> bool:
        response = await ask(server.owner, "GET", "/api/settings")
        return (response["joinPolicy"], response["profanityMode"], response["linkPreviews"]) == (
            "open",
            "censor",
            False,
        )

    await wait_until("the server has stored all three", kept, within_s=15)
    await has_no_page(server.moderator, "This server")
    assert await refusal(server.moderator, "PATCH", "/api/settings", {"name": "Mine"}) == "forbidden"


@pytest.mark.pages("moderator", "member")
async def test_a_webhook_can_be_created_and_tested_in_the_web_client(server: Community, axe: str) -> None:
    page = await open_settings(server.moderator, "Webhooks")
    await expect(page.get_by_text("There are no webhooks you can manage.")).to_be_visible()
    await page.get_by_label("Webhook name").fill("Builds")
    await page.get_by_role("button", name="Create webhook").click()
    address = await page.get_by_label("URL", exact=True).input_value()
    await page.get_by_role("button", name="GitHub", exact=True).click()
    await expect(page.get_by_label("Payload URL")).to_have_value(f"{address}/github")
    await page.get_by_label("Card title").fill("Build 512 failed")
    await page.get_by_label("Card text").fill("2 of **300** tests")
    await expect(page.get_by_role("region", name="Preview").locator("strong")).to_have_text("300")
    json = page.get_by_role("textbox", name="JSON")
    await expect(json).to_have_value(re.compile('"title": "Build 512 failed"'))
    await page.get_by_text("Fields", exact=True).click()
    await page.get_by_role("button", name="Add field").click()
    await page.get_by_label("Field name").fill("Commit")
    await expect(page.get_by_role("region", name="Preview").locator("dt")).to_have_text("Commit")
    # The page reports values that the server would reject, and fills in the form's fields from typed JSON.
    sent = await json.input_value()
    await json.fill(sent.replace('"title"', '"url": "nowhere", "title"'))
    await expect(page.get_by_text("cards[0].url: Wrong format")).to_be_visible()
    await expect(page.get_by_role("button", name="Post message")).to_be_disabled()
    await page.get_by_label("Title link").fill("https://ci.example/512")
    await expect(page.get_by_text("The server accepts this message.")).to_be_visible()
    await at_both_sizes(server.moderator, axe, "a webhook and its card")
    await page.get_by_role("button", name="Post message").click()
    history = page.get_by_role("region", name="Recent posts").locator("[data-outcome]")
    await expect(history).to_have_count(1)
    await expect(history).to_contain_text("Posted")
    await server.moderator.page.evaluate("(to) => fetch(to, { method: 'POST', body: 'no JSON' })", address)
    await page.get_by_role("button", name="Refresh").click()
    await expect(history.first).to_contain_text("Rejected: not valid JSON")
    for name, command in (("curl", ["sh", "-c"]), ("Python", [sys.executable, "-c"])):
        await page.get_by_role("button", name=name, exact=True).click()
        snippet = await page.locator("pre").first.inner_text()
        ran = await asyncio.create_subprocess_exec(*command, snippet, stdout=DEVNULL, stderr=DEVNULL)
        assert await ran.wait() == 0
    await expect(message(server.member, "The build is green")).to_have_count(2)
    posted = message(server.member, "Hello from a webhook")
    await expect(posted.locator("article h3")).to_have_text("Build 512 failed")
    await expect(posted.locator(".author")).to_have_text("Builds")

    await page.get_by_role("button", name="Delete webhook").click()
    dialog = server.moderator.page.get_by_role("dialog", name="Delete the webhook Builds?")
    await dialog.get_by_role("button", name="Delete webhook").click()
    await expect(page.get_by_text("There are no webhooks you can manage.")).to_be_visible()
    await has_no_page(server.member, "Webhooks")


async def test_two_managers_can_add_and_edit_emoji_at_the_same_time(
    people: People,
) -> None:
    server = await community(people, "manage_emoji")
    page = await open_settings(server.moderator, "Emoji")
    picture = encoded(scene(64, 64), "PNG")
    files = [
        {"name": name, "mimeType": "image/png", "buffer": picture} for name in ("Happy Cat.png", "été.png")
    ]
    await page.get_by_label("Add emoji").last.set_input_files(files)  # type: ignore[arg-type]
    await expect(page.get_by_label("Name of happy_cat")).to_be_visible()
    await expect(page.get_by_label("Name of e_te")).to_be_visible()
    await page.get_by_label("Name of e_te").fill("summer")
    await server.moderator.page.keyboard.press("Enter")
    await expect(page.get_by_label("Name of summer")).to_be_visible()
    owners = await open_settings(server.owner, "Emoji")
    await owners.get_by_label("Name of summer").fill("winter")
    await server.owner.page.keyboard.press("Enter")
    for shown_page in (page, owners):
        await expect(shown_page.get_by_label("Name of winter")).to_have_value("winter")
        await shown_page.get_by_role("button", name="Delete winter").click()
    # Both see the prompt. The second one learns that the first was quicker.
    for person in (server.owner, server.moderator):
        question = person.page.get_by_role("dialog", name="Delete :winter:?")
        await question.get_by_role("button", name="Delete", exact=True).click()
        await expect(question).to_have_count(0)
    notice = server.moderator.page.locator(".notice")
    await expect(notice).to_contain_text(["This emoji was deleted."])
    await expect(page.get_by_role("listitem")).to_have_count(1)
    await has_no_page(server.member, "Emoji")
    [left] = (await ask(server.member, "GET", "/api/emoji"))["emoji"]
    assert await refusal(server.member, "DELETE", f"/api/emoji/{left['id']}") == "forbidden"
    # Members who may write can use the remaining emoji in messages and reactions.
    member = server.member
    await box(member).press_sequentially("Look :hap")
    await expect(member.page.get_by_role("option", name=":happy_cat:").locator("img")).to_be_visible()
    await box(member).press("Tab")
    await box(member).press("Enter")
    await server.owner.page.keyboard.press("Escape")
    posted = message(server.owner, "Look")
    await expect(posted.get_by_role("img", name=":happy_cat:")).to_be_visible()
    await do(server.owner, "Look", "React")
    await server.owner.press("All emoji")
    await server.owner.page.get_by_role("searchbox", name="Search emoji").fill("happy_cat")
    dialog = server.owner.page.get_by_role("dialog", name="Emoji", exact=True)
    await dialog.get_by_role("button", name=":happy_cat:").click()
    await expect(message(member, "Look").locator(".reactions img")).to_have_attribute("alt", ":happy_cat:")


async def test_a_bot_shows_its_token_once_and_is_deleted(people: People, axe: str) -> None:
    server = await community(people, "manage_bots")
    page = await open_settings(server.moderator, "Bots")
    await page.get_by_label("Bot name").fill("Weather")
    await page.get_by_role("button", name="Create bot").click()
    dialog = server.moderator.page.get_by_role("dialog", name="Token for Weather")
    token = await dialog.get_by_label("Token").input_value()
    await at_both_sizes(server.moderator, axe, "the token of a bot")
    await dialog.get_by_role("button", name="I’ve saved it").click()
    await expect(server.moderator.page.get_by_label("Token")).to_have_count(0)
    await server.moderator.page.reload()
    page = await open_settings(server.moderator, "Bots")
    await expect(page.get_by_role("listitem")).to_contain_text("token created by Grace")
    await expect(page.get_by_role("listitem").locator(".bot-sign")).to_have_text("Bot")
    values = await server.moderator.page.locator("input, textarea").evaluate_all(
        "all => all.map(({ value }) => value)"
    )
    response = await ask(server.owner, "GET", "/api/bots")
    for text in (await server.moderator.page.content(), *values, str(response)):
        assert token not in text, "the token is shown only once"
    await server.member.press("Members")
    await expect(listed(server.member, "Weather").locator(".bot-sign")).to_have_text("Bot")
    await server.member.page.evaluate(SPEAK, [token, "Rain at noon"])
    await expect(message(server.member, "Rain at noon").locator(".bot-sign")).to_have_text("Bot")
    # Like a member, a bot has roles and their permissions.
    assert await server.member.page.evaluate(LOOK_AT_BOTS, token) == 403
    await server.owner.press("Members")
    await listed(server.owner, "Weather").hover()
    await server.owner.press("More about Weather")
    await server.owner.page.get_by_role("menuitem", name="Edit roles").click()
    dialog = server.owner.page.get_by_role("dialog", name="Roles of Weather")
    role = dialog.get_by_role("switch", name="Helpers")
    await role.check()
    await wait_for_value(lambda: server.member.page.evaluate(LOOK_AT_BOTS, token), 200)
    await role.uncheck()  # A manager with this role could not delete another member who has it.
    await wait_for_value(lambda: server.member.page.evaluate(LOOK_AT_BOTS, token), 403)
    await server.owner.page.keyboard.press("Escape")
    await has_no_page(server.member, "Bots")
    assert await refusal(server.member, "POST", "/api/bots", {"nickname": "Mine"}) == "forbidden"
    await page.get_by_role("button", name="More about Weather").click()
    await server.moderator.page.get_by_role("menuitem", name="Delete bot").click()
    question = server.moderator.page.get_by_role("dialog", name="Delete the bot Weather?")
    await question.get_by_role("button", name="Delete bot").click()
    await expect(page.get_by_text("There are no bots yet.")).to_be_visible()
    log = await open_settings(server.owner, "Audit log")
    for act in ("created", "deleted"):
        await expect(log.get_by_text(f"Grace {act} the bot Weather")).to_be_visible()


async def test_the_owner_can_see_the_used_storage_and_download_a_backup(
    people: People, tmp_path: Path, axe: str
) -> None:
    server = await community(people, *ALMOST_ALL)
    await write(server.member, "To be kept")
    page = await open_settings(server.owner, "Storage")
    await expect(page.get_by_text("Nothing is stored yet.").first).to_be_visible()
    await page.get_by_label("Keep attachments").select_option("For 30 days")
    question = server.owner.page.get_by_role("dialog", name="Delete attachments older than 30 days?")
    await expect(question).to_be_visible()
    await at_both_sizes(server.owner, axe, "the confirmation to delete old files")
    await question.get_by_role("button", name="Cancel").click()
    assert (await ask(server.owner, "GET", "/api/settings"))["retentionDays"] == 0
    await page.get_by_label("Keep attachments").select_option("For 30 days")
    await question.get_by_role("button", name="Delete attachments").click()
    await expect(question).to_have_count(0)
    assert (await ask(server.owner, "GET", "/api/settings"))["retentionDays"] == 30
    await server.owner.page.keyboard.press("Escape")
    page = await open_settings(server.owner, "Backups")
    await page.get_by_role("button", name="Create backup").click()
    async with server.owner.page.expect_download() as downloading:
        await page.get_by_role("button", name="Download").click()
    download = await downloading.value
    assert download.suggested_filename.startswith("backup-")
    await download.save_as(tmp_path / "backup")
    await at_both_sizes(server.owner, axe, "a backup")
    assert texts_in(tmp_path / "backup") == 1
    await page.get_by_role("button", name="Delete").click()
    question = server.owner.page.get_by_role("dialog", name="Delete this backup?")
    await question.get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("There are no backups on the server.")).to_be_visible()
    await server.owner.page.keyboard.press("Escape")
    page = await open_settings(server.owner, "Health")
    await expect(page.get_by_role("note")).to_contain_text("works only on this computer")
    await expect(page.get_by_text("The database is working.")).to_be_visible()
    versions = rf"^svc {re.escape(version('svc-server'))} · Python \S+ · SQLite {re.escape(sqlite_version)}$"
    await expect(page.get_by_text(re.compile(versions))).to_be_visible()
    await expect(page.get_by_role("list", name="3 members are connected")).to_contain_text("Edsger")
    for name in ("Storage", "Backups", "Health"):
        await has_no_page(server.moderator, name)
    for person in (server.moderator, server.member):
        for path in ("/api/storage", "/api/backups", "/api/health"):
            assert await refusal(person, "GET", path) == "forbidden"

    await shows_storage_by_kind_and_member(server)


async def shows_storage_by_kind_and_member(server: Community) -> None:
    """Check that the page lists the used storage by kind and by member."""
    picture = {"name": "sea.png", "mimeType": "image/png", "buffer": encoded(scene(64, 64), "PNG")}
    await server.member.page.locator("#files").set_input_files(picture)  # type: ignore[arg-type]
    await expect(server.member.page.locator(".upload-list li[data-state=done]")).to_be_visible()
    await write(server.member, "The sea")
    await server.owner.page.keyboard.press("Escape")
    await expect(message(server.owner, "The sea").locator("img").last).to_be_visible()

    async def kinds() -> list[str]:
        return [kind["kind"] for kind in (await ask(server.owner, "GET", "/api/storage"))["by_kind"]]

    await wait_for_value(kinds, ["message"])  # The uploaded original is deleted a moment later.
    page = await open_settings(server.owner, "Storage")
    response = await ask(server.owner, "GET", "/api/storage")
    [kind], [holder] = response["by_kind"], response["by_member"]
    assert (kind["kind"], holder["nickname"]) == ("message", "Edsger")
    assert kind["bytes"] == holder["bytes"] == response["bytes"] > 0
    amounts = [await page.get_by_role("list", name=name).inner_text() for name in BY]
    amount = re.compile(r"[\d.,]+\s[kM]?B")
    assert len({amount_ for text in amounts for amount_ in amount.findall(text)}) == 1
