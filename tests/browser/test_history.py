"""A long history can be opened through links, dates and searches and read in both directions.

Only a few messages are rendered at a time.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest_asyncio
from aiohttp import ClientSession
from playwright.async_api import Locator, expect

from tests.browser.test_accessibility import axe, expect_accessible
from tests.chat.chat_server import ChatServer
from tests.kit.browser_users import People, Person, narrow_only, wide_daily, wide_only
from tests.kit.community import ask
from tests.kit.svc_up import COMMAND, SvcUp, running_svc_up
from tests.kit.text_channels import LiveConnection, message, open_channel
from tests.kit.wait import wait_until

__all__ = ["axe"]

DAYS = 4
A_DAY = 150
LAST = DAYS * A_DAY - 1
MAX_DRAWN = 210  # the same limit as in state/conversation.js
BEGINNING = datetime(2020, 1, 1, 12, tzinfo=UTC)
EDITED = 12  # This message follows another one by the same author.
# Returns the numbers of the rendered messages by the label of their day.
DRAWN = """(list) => [...list.querySelectorAll("section")].map((day) => [day.ariaLabel,
  [...day.querySelectorAll(".body > .text")].map((text) => Number(/\\d+/.exec(text.textContent)[0]))])"""
# Scrolls to one end. Returns the first or the last message and its position.
TO_AN_END = """(box, down) => {
  box.scrollTop = down ? box.scrollHeight : 0;
  const all = [...box.querySelectorAll(".message")];
  const element = all.at(down ? -1 : 0);
  return [element.dataset.id, element.getBoundingClientRect().bottom];
}"""
# Return the number of elements in the page, and the number of messages with buttons.
ELEMENTS = "() => document.querySelectorAll('*').length"
WITH_BUTTONS = "(list) => list.querySelectorAll('.actions').length"
# With this many elements, scrolling, a key press and a new message each take less than a frame.
MAX_ELEMENTS = 3000
WHERE = """(box, id) => box.querySelector(`[data-id="${id}"]`)?.getBoundingClientRect().bottom ?? null"""
# Scrolls so that the top edge cuts through a message.
CUT_BY_THE_EDGE = """(box) => {
  box.scrollTop = 0;
  box.querySelector(".message").scrollIntoView();
  box.scrollTop += 12;
}"""


def exported() -> dict[str, object]:
    """Return an export in DiscordChatExporter's format. Two people take turns writing five messages each."""
    people = [
        {"id": "10", "name": "ada", "nickname": "Ada L."},
        {"id": "11", "name": "ben", "nickname": "Ben"},
    ]

    def message(number: int) -> dict[str, object]:
        day, at = divmod(number, A_DAY)
        when = BEGINNING + timedelta(days=day, seconds=10 * at)
        edited = {"timestampEdited": when.isoformat()} if number == EDITED else {}
        return {
            "id": str(1000 + number),
            "type": "Default",
            "timestamp": when.isoformat(),
            "content": f"nr{number} {'planet' if at == 7 else 'star'}",
            "author": people[number // 5 % 2],
            **edited,
        }

    channel = {"id": "2", "type": "GuildTextChat", "name": "old", "topic": ""}
    messages = [message(number) for number in range(LAST + 1)]
    return {"guild": {"id": "1", "name": "Old place"}, "channel": channel, "messages": messages}


@pytest_asyncio.fixture(loop_scope="session")
async def product(tmp_path: Path) -> AsyncIterator[SvcUp]:
    """Run a server that has an owner and a history imported from another program."""
    async with running_svc_up(tmp_path / "data") as empty:
        url = urlsplit(empty.url)
        [invite] = parse_qs(url.fragment)["invite"]
        address = f"{url.scheme}://{url.netloc}"
        async with ClientSession(address) as http:
            await ChatServer(address, http, invite).join("Olga")
    file = tmp_path / "old.json"
    file.write_text(json.dumps(exported()))
    process = await asyncio.create_subprocess_exec(
        *(COMMAND[0], "admin", "import", str(file), "--from", "discord"),
        *("--data-dir", str(tmp_path / "data")),
    )
    async with asyncio.timeout(60):
        assert await process.wait() == 0
    async with running_svc_up(tmp_path / "data") as product:
        yield product
    assert "Traceback" not in product.output, product.output


async def drawn(person: Person) -> list[int]:
    """Return the rendered messages' numbers. Check that they are consecutive and under the right days."""
    days: list[tuple[str, list[int]]] = await person.page.locator("#messages").evaluate(DRAWN)
    numbers = [number for _, day_numbers in days for number in day_numbers]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    assert len(numbers) <= MAX_DRAWN
    assert [len({number // A_DAY for number in day_numbers}) for _, day_numbers in days] == [1] * len(days)
    assert len({label for label, _ in days}) == len(days)
    return numbers


async def go_on(person: Person, *, down: bool) -> None:
    """Scroll to an end of the rendered messages. Wait until more are rendered, and check that the visible
    messages stay in place.
    """
    box = person.page.locator("#messages-box")
    end = -1 if down else 0
    before = (await drawn(person))[end]
    element, where = await box.evaluate(TO_AN_END, down)

    async def more() -> bool:
        return (await drawn(person))[end] != before

    await wait_until("more messages are loaded", more, within_s=30)
    assert abs(await box.evaluate(WHERE, element) - where) < 2
    assert await person.page.evaluate(ELEMENTS) <= MAX_ELEMENTS


async def address_of(person: Person, number: int) -> str:
    channels = (await ask(person, "GET", "/api/channels"))["channels"]
    [old] = [channel["id"] for channel in channels if channel["name"] == "old"]
    at_ms = int((BEGINNING + timedelta(seconds=10 * number)).timestamp() * 1000)
    page = await ask(person, "GET", f"/api/channels/{old}/messages?at_ms={at_ms}")
    [message_id] = [message["id"] for message in page["messages"] if message["posted_at_ms"] == at_ms]
    return f"/#channel={old}&message={message_id}"


@wide_daily
async def test_six_hundred_messages_can_be_read_in_both_directions(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await open_channel(ada, "old")
    await expect(message(ada, f"nr{LAST} star")).to_be_in_viewport()
    address = await address_of(ada, 10)

    # A link opens the message in an open page and in a new page.
    marked = ada.page.locator(".message.marked > .body > .text")
    await ada.page.evaluate("(address) => { location.href = address; }", address)
    await expect(marked).to_have_text("nr10 star")
    await expect(message(ada, "nr10 star")).to_be_in_viewport()
    url = ada.page.url
    await ada.page.goto("about:blank")
    await ada.page.goto(url.split("/#")[0].split("?")[0].rstrip("/") + address)
    await expect(marked).to_have_text("nr10 star")
    await expect(message(ada, "nr10 star")).to_be_in_viewport()
    await expect(ada.page.get_by_role("button", name="Jump to latest")).to_be_visible()

    await ada.page.mouse.move(0, 0)
    # A message that follows another one by the same author does not repeat the name.
    changed = message(ada, f"nr{EDITED} star")
    await expect(changed.locator(".mark")).to_have_text(["edited"])
    await expect(changed.locator(".author")).to_be_hidden()
    await expect(changed.locator(".avatar")).to_be_hidden()
    await expect(message(ada, f"nr{EDITED + 1} star").locator(".byline")).to_be_hidden()

    # The buttons of a message are visible even if the edge cuts off the message.
    await ada.page.locator("#messages-box").evaluate(CUT_BY_THE_EDGE)
    first_id = await ada.page.locator(".message").first.get_attribute("data-id")
    first = ada.page.locator(f".message[data-id='{first_id}']")
    await first.focus()
    actions, box = (
        await first.locator(".actions").bounding_box(),
        await ada.page.locator("#messages-box").bounding_box(),
    )
    assert actions is not None and box is not None
    assert actions["y"] >= box["y"]
    # The message's buttons stay while their menu is open. They disappear when they lose focus.
    shown = first.locator(".actions [data-icon=reply]")
    await expect(shown).to_be_visible()
    await first.get_by_role("button", name="More").press("Enter")
    await expect(first.locator(".menu button").first).to_be_focused()
    await expect(shown).to_be_visible()
    await ada.page.keyboard.press("Escape")
    await ada.page.locator("#messages-box").focus()
    await expect(first.locator(".actions-lane")).to_have_css("opacity", "0")

    while (await drawn(ada))[-1] < LAST:
        await go_on(ada, down=True)
    # Only the focused message and the one under the pointer have buttons.
    assert await ada.page.locator("#messages").evaluate(WITH_BUTTONS) <= 2
    # The days are headings between the lists of messages, not inside them.
    assert await ada.page.locator("#messages ol > :not(li), #messages ol .day").count() == 0
    await expect(ada.page.locator("#messages section > h2.day")).to_have_count(DAYS - 2)
    while (await drawn(ada))[0] > 0:
        await go_on(ada, down=False)
    await expect(ada.page.locator("#messages section > h2.day")).to_have_count(DAYS - 2)
    await ada.press("Jump to latest")
    await expect(message(ada, f"nr{LAST} star")).to_be_in_viewport()


@wide_only
async def test_a_failure_to_load_earlier_messages_is_reported_and_can_be_retried(
    people: People, axe: str
) -> None:
    ada = await people.arrive("Ada", reads="general")
    line = LiveConnection()
    await line.intercept(ada)
    await ada.page.reload()
    await open_channel(ada, "old")
    await expect(message(ada, f"nr{LAST} star")).to_be_in_viewport()
    earlier = ada.page.locator(".older")

    # If the request is rejected, the messages stay in place. The page sends no other request until the person
    # retries.
    line.fail_next("history")
    await shows_above(ada, earlier, "This channel was deleted(.|\\n)*Try again")
    await expect_accessible(ada, axe, "a failed request for earlier messages")
    first = (await drawn(ada))[0]
    assert first > 0
    await expect(message(ada, f"nr{first} star")).to_be_in_viewport()
    line.restore()
    await earlier.get_by_role("button", name="Try again").press("Enter")
    await expect(message(ada, f"nr{first - 1} star")).to_be_attached()
    await expect(ada.page.locator(".older.error")).to_have_count(0)

    # The request gets no response, although the connection works.
    line.hold("history")
    await shows_above(ada, earlier, "Can’t reach the server(.|\\n)*Try again")
    line.release()
    first = (await drawn(ada))[0]
    await earlier.get_by_role("button", name="Try again").click()
    await expect(message(ada, f"nr{first - 1} star")).to_be_attached()

    # The connection is lost during the request. The page recovers without user action.
    line.cut_before("history")
    first = (await drawn(ada))[0]
    await shows_above(ada, earlier, "Can’t reach the server. Reconnecting…")
    line.restore()
    await expect(message(ada, f"nr{first - 1} star")).to_be_attached()


async def shows_above(person: Person, earlier: Locator, words: str) -> None:
    """Scroll up until this text appears above the messages.

    A page that was just opened may jump back to the end.
    """

    async def is_shown() -> bool:
        await person.page.locator("#messages-box").evaluate("(box) => { box.scrollTop = 0; }")
        return re.search(words, await earlier.inner_text()) is not None

    await wait_until(f"{words} is shown above the messages", is_shown, within_s=60.0)


@narrow_only
async def test_a_date_opens_the_history_at_that_day(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await open_channel(ada, "old")
    # Use the keyboard, because rendering more of the day moves the heading away from a pointer.
    await ada.page.locator(".day button").last.press("Enter")
    dialog = ada.page.get_by_role("dialog", name="Jump to date")
    await dialog.get_by_label("Date").fill("2020-01-02")
    await dialog.get_by_role("button", name="Jump").click()
    await expect(ada.page.locator(".message.marked > .body > .text")).to_have_text(f"nr{A_DAY} star")
    await expect(message(ada, f"nr{A_DAY} star")).to_be_in_viewport()

    await ada.press("Search messages")
    field = ada.page.get_by_role("searchbox", name="Search messages")
    lines = ada.page.locator(".message-line")
    of_days = {
        "planet in:old before:2020-01-03": [1, 0],
        "planet in:old after:2020-01-02": [3, 2],
        "planet after:2020-01-01 before:2020-01-03": [1],
    }
    for query, days in of_days.items():
        await field.fill(query)
        await field.press("Enter")
        await expect(lines).to_have_count(len(days))
        for line, day in enumerate(days):
            await expect(lines.nth(line)).to_contain_text(f"nr{day * A_DAY + 7} planet")
    await lines.first.click()
    await expect(ada.page.locator(".message.marked > .body > .text")).to_have_text(f"nr{A_DAY + 7} planet")
