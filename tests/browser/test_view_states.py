"""Each state of a view (empty, loading, offline, failed or deleted) has its own message."""

from playwright.async_api import Locator, Route, expect

from tests.browser.test_accessibility import axe, expect_accessible
from tests.browser.test_event_order import Held
from tests.kit.browser_users import People, Person, wide_daily
from tests.kit.community import ask
from tests.kit.text_channels import LiveConnection, box, do, entry, join_and_open, message, write

__all__ = ["axe"]

ASIDES = {"Pinned messages": "pins", "Followed threads": "threads", "Mentions": "mentions"}


@wide_daily
async def test_each_state_of_a_view_has_its_own_message(people: People, axe: str) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await join_and_open(ada)
    # An empty channel describes itself and suggests the next step.
    await expect(ada.page.get_by_text("No messages in general yet. Say hello.")).to_be_visible()
    await write(ada, "Soon gone")
    await join_and_open(grace)
    for name in ("attic", "cellar", "yard"):
        await ask(ada, "POST", "/api/channels", {"name": name, "type": "text", "topic": f"In the {name}"})
    line = LiveConnection()
    await line.intercept(grace)
    await grace.page.reload()
    await expect(box(grace)).to_be_enabled()
    await check_loading_and_refusal(grace, line, axe)
    await check_side_panels(grace, line, axe)
    await searched(grace, axe)
    await in_a_thread(ada, grace, line, axe)
    await without_the_server(grace, line, axe)

    await write(grace, "I leave")
    await open_quickly(ada, "yard")
    await message(ada, "I leave").locator("button.author").click()
    await ask(grace, "POST", "/api/me/leave", {})
    await expect(ada.page.get_by_role("dialog")).to_contain_text("This person is no longer a member.")
    await expect_accessible(ada, axe, "the profile of a former member")


async def check_loading_and_refusal(grace: Person, line: LiveConnection, axe: str) -> None:
    main = grace.page.get_by_role("main")
    line.hold("history")
    await open_quickly(grace, "attic")
    await expect(main.get_by_text("Loading…", exact=True)).to_be_visible()
    await expect_accessible(grace, axe, "a loading channel")
    line.release()
    await expect(main.get_by_text("No messages in attic yet.")).to_be_visible()
    await expect(main.locator("#beginning")).to_contain_text("In the attic")
    await main.get_by_role("button", name="Invite others").click()
    await expect(grace.page.get_by_role("dialog", name="Invite")).to_be_visible()
    await grace.page.keyboard.press("Escape")
    line.fail_next("history")
    await open_quickly(grace, "cellar")
    await expect(main.locator(".error")).to_contain_text("This channel was deleted")
    await expect_accessible(grace, axe, "a refused channel")
    line.restore()
    await grace.press("Try again")
    await expect(main.get_by_text("No messages in cellar yet.")).to_be_visible()


async def check_side_panels(grace: Person, line: LiveConnection, axe: str) -> None:
    side_panel = grace.page.locator(".aside-body")
    for name, event in ASIDES.items():
        line.hold(event)
        await grace.show_aside(name)
        await expect(side_panel.get_by_text("Loading…", exact=True)).to_be_visible()
        line.release()
        await expect(side_panel.get_by_text("Loading…", exact=True)).to_have_count(0)
        await shut(side_panel)
        line.fail_next(event)
        await grace.show_aside(name)
        await expect(side_panel.locator(".error")).to_have_count(1)
        await expect(side_panel.get_by_text("Loading…", exact=True)).to_have_count(0)
        await expect_accessible(grace, axe, f"refused {name}")
        line.restore()
        await side_panel.get_by_role("button", name="Try again").click()
        await expect(side_panel.locator(".error")).to_have_count(0)
        # An empty panel shows its icon above the text.
        await expect(side_panel.locator(".nothing-here .icon")).to_be_visible()
        await shut(side_panel)


async def searched(grace: Person, axe: str) -> None:
    side_panel = grace.page.locator(".aside-body")
    await grace.press("Search messages")
    async with Held(grace, "**/api/search?*") as searching:
        await grace.page.get_by_role("searchbox").fill("gone")
        await grace.page.keyboard.press("Enter")
        await searching.is_given()
        await expect(side_panel.get_by_text("Searching…")).to_be_visible()
        await searching.release()
    await expect(side_panel.get_by_text("1 message")).to_be_visible()
    await grace.page.unroute("**/api/search?*")
    await grace.page.route("**/api/search?*", broken)
    await grace.page.keyboard.press("Enter")
    await expect(side_panel.locator(".error")).to_have_text(
        "Something went wrong on the server. Try again later."
    )
    await expect_accessible(grace, axe, "a failed search")
    await shut(side_panel)


async def in_a_thread(ada: Person, grace: Person, line: LiveConnection, axe: str) -> None:
    """Check a thread whose replies cannot be loaded, a thread whose root message has been deleted, and a link
    to this thread.
    """
    await do(ada, "Soon gone", "More")
    await ada.page.get_by_role("menuitem", name="Reply in thread").click()
    field = ada.page.get_by_role("textbox", name="Reply in thread")
    await field.fill("Left over")
    await field.press("Enter")
    await expect(ada.page.locator(".thread .message").filter(has_text="Left over")).to_be_visible()
    message_id = await message(ada, "Soon gone").first.get_attribute("data-id")

    await open_quickly(grace, "general")
    thread = grace.page.locator(".thread")
    line.fail_next("history")
    await message(grace, "Soon gone").get_by_role("button", name="1 reply").click()
    await expect(thread.locator(".error")).to_contain_text("This channel was deleted")
    await expect_accessible(grace, axe, "a refused thread")
    line.restore()
    await thread.get_by_role("button", name="Try again").click()
    answer = thread.locator(".message").filter(has_text="Left over")
    await expect(answer).to_be_visible()
    # A link to a reply opens its thread.
    answer_id = await answer.get_attribute("data-id")
    await shut(thread)
    await follow(grace, answer_id)
    await expect(thread.locator(".message.marked")).to_contain_text("Left over")
    await ask(ada, "DELETE", f"/api/channels/general/messages/{message_id}")
    for person in (ada, grace):
        thread_panel = person.page.locator(".thread")
        await expect(thread_panel).to_contain_text("The first message of this thread was deleted.")
        await expect_accessible(person, axe, "a deleted thread")
        await shut(thread_panel)
    await follow(grace, message_id)
    await expect(grace.page.locator(".notice")).to_have_text("This message no longer exists.")
    await expect_accessible(grace, axe, "a deleted message")


async def without_the_server(grace: Person, line: LiveConnection, axe: str) -> None:
    """Check that the page reports the outage and recovers without user action."""
    main, side_panel = grace.page.get_by_role("main"), grace.page.locator(".aside-body")
    await line.cut()
    await open_quickly(grace, "yard")
    await expect(main.get_by_text("Can’t reach the server. Reconnecting…")).to_be_visible()
    await expect_accessible(grace, axe, "a page without a server")
    await grace.show_aside("Pinned messages")
    await expect(side_panel.locator(".error")).to_contain_text("Can’t reach the server.")
    line.restore()
    await expect(side_panel.get_by_text("No pinned messages yet.")).to_be_visible()
    await expect(side_panel.locator(".error")).to_have_count(0)
    await shut(side_panel)
    await expect(main.get_by_text("No messages in yard yet.")).to_be_visible()


async def open_quickly(person: Person, channel: str) -> None:
    """Open a channel without waiting for its messages."""
    await person.show_channels()
    await entry(person, channel).click()


async def follow(person: Person, message_id: str | None) -> None:
    """Follow a link to a message in the first channel."""
    await person.page.evaluate("(id) => { location.hash = `#channel=general&message=${id}`; }", message_id)


async def shut(panel: Locator) -> None:
    await panel.get_by_role("button", name="Close").click()
    await expect(panel).to_have_count(0)


async def broken(route: Route) -> None:
    refusal = {"error": "internal_error", "message": "The server has a fault."}
    await route.fulfill(status=500, json=refusal)
