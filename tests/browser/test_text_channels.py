"""Messages can be written, edited and read in text channels.

See docs/webhooks.md, "Cards", docs/http.md, "Messages", and docs/live.md.
"""

import asyncio
import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import ClientSession
from playwright.async_api import expect

from tests.browser.test_accessibility import at_both_sizes, axe, expect_accessible
from tests.chat.chat_server import ChatServer
from tests.kit.browser_users import (
    NARROW,
    People,
    Person,
    narrow_only,
    until_touch_is_handled,
    wide_daily,
    wide_only,
)
from tests.kit.community import ask
from tests.kit.pictures import encoded, scene
from tests.kit.svc_up import SvcUp
from tests.kit.text_channels import (
    both,
    box,
    do,
    entry,
    is_listed_as,
    message,
    open_channel,
    shows,
    stays_at_the_end,
    until_tooltips_are_shown,
    write,
)
from tests.kit.wait import wait_for_value, wait_until

__all__ = ["axe"]

pytestmark = pytest.mark.usefixtures("second_channel")

# Hostile texts, which tests/web also uses.
HOSTILE: dict[str, list[str]] = json.loads(
    (Path(__file__).parent.parent / "web" / "hostile.json").read_text(encoding="utf-8")
)
OWN_TOKEN = "() => JSON.parse(localStorage.getItem('svc.identity')).access_token"
# Scrolls to the top. Returns the text and position of the first message.
TO_THE_TOP = """(box) => {
  box.scrollTop = 0;
  const words = box.querySelector(".body > .text");
  return [words.innerText, words.getBoundingClientRect().top];
}"""
OWN_ID = "() => JSON.parse(localStorage.getItem('svc.identity')).member.id"


def address_of(product: SvcUp) -> str:
    url = urlsplit(product.url)
    return f"{url.scheme}://{url.netloc}"


async def webhook(owner: Person) -> str:
    """Create a webhook for #general. Return its URL."""
    made = await ask(owner, "POST", "/api/webhooks", {"name": "Robot", "channel_id": "general"})
    return str(made["url"])


async def post(url: str, payload: object) -> None:
    async with ClientSession() as http, http.post(url, json=payload) as response:
        assert response.status == 200, await response.text()


@wide_only
async def test_two_people_can_write_to_each_other(people: People) -> None:
    ada, grace = await both(people)
    await write(ada, "Hello *Grace*")
    await shows(grace, ["Hello Grace"])
    await expect(message(grace, "Hello").locator("em")).to_have_text("Grace")
    await expect(message(grace, "Hello").locator(".author")).to_have_text("Ada")
    await expect(grace.page.locator(".day")).to_have_text(["Today"])

    await box(grace).press_sequentially("Hello")
    await expect(ada.page.locator("#typing")).to_have_text("Grace is typing…")
    await box(grace).press("Shift+Enter")
    await box(grace).press_sequentially("Ada")
    await box(grace).press("Enter")
    await shows(ada, ["Hello Grace", "HelloAda"])
    await expect(message(ada, "HelloAda").locator("br")).to_have_count(1)
    await expect(ada.page.locator("#typing")).to_have_text("")


@narrow_only
async def test_an_authors_edits_and_deletions_appear_for_others(people: People, axe: str) -> None:
    ada, grace = await both(people)
    for text in ("one", "two"):
        await write(grace, text)
    await box(grace).press("ArrowUp")
    editor = grace.page.locator(".message textarea")
    await expect(editor).to_be_focused()
    await editor.press_sequentially(" and a half")
    await editor.press("Enter")
    await shows(ada, ["one", "two and a half"])
    await expect(message(ada, "half").locator(".mark")).to_have_text(["edited"])
    await expect(box(grace)).to_be_focused()

    await do(grace, "one", "Delete")
    await shows(grace, ["one", "two and a half"])
    await expect(grace.page.get_by_role("dialog")).to_be_visible()
    await expect_accessible(grace, axe, "the confirmation to delete a message")
    await grace.press("Delete message")
    await shows(ada, ["two and a half"])
    await shows(grace, ["two and a half"])


@wide_only
async def test_reactions_are_added_and_removed(people: People, axe: str) -> None:
    ada, grace = await both(people)
    await write(ada, "Dinner?")
    await do(grace, "Dinner?", "React")
    await grace.page.get_by_role("button", name="👍", exact=True).click()
    at_ada = message(ada, "Dinner?").locator(".reaction")
    await expect(at_ada).to_have_accessible_name("👍 1 person")
    await at_ada.click()
    await expect(message(grace, "Dinner?").locator(".reaction")).to_have_accessible_name("👍 2 people")
    # The names of the members who reacted are available by pointer, keyboard and touch. The page looks them
    # up when the pointer is on the reaction.
    await until_tooltips_are_shown(grace)
    await message(grace, "Dinner?").locator(".reaction").hover()
    await expect(grace.page.locator(".tooltip")).to_have_text("Grace and Ada")
    await message(ada, "Dinner?").focus()
    await message(ada, "Dinner?").get_by_role("button", name="More").press("Enter")
    await expect(ada.page.get_by_role("menuitem").first).to_be_focused()
    await ada.page.keyboard.press("ArrowDown")
    await expect(ada.page.get_by_role("menuitem", name="Reactions")).to_be_focused()
    await ada.page.keyboard.press("Enter")
    dialog = ada.page.get_by_role("dialog", name="Reactions")
    await expect(dialog.locator(".person-row > [dir]")).to_have_text(["Grace", "Ada (you)"])
    await expect_accessible(ada, axe, "the members who reacted")
    # The open dialog is updated when Grace removes her reaction.
    await message(grace, "Dinner?").locator(".reaction").click()
    await expect(dialog.locator(".person-row > [dir]")).to_have_text(["Ada (you)"])
    await ada.page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await at_ada.click(button="right")
    await expect(dialog.locator(".person-row > [dir]")).to_have_text(["Ada (you)"])
    await ada.page.keyboard.press("Escape")
    await expect(at_ada).to_have_accessible_name("👍 1 person")


async def swipe(person: Person, start: int, end: int, line: float = 300) -> None:
    """Move a finger horizontally over the messages."""
    await until_touch_is_handled(person.page)
    browser = await person.page.context.new_cdp_session(person.page)
    for kind, points in (("touchStart", [start]), ("touchMove", [end]), ("touchEnd", [])):
        touch = {"type": kind, "touchPoints": [{"x": x, "y": line} for x in points]}
        await browser.send("Input.dispatchTouchEvent", touch)


@narrow_only
async def test_a_reaction_also_shows_its_members_on_a_phone(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.arrive("Grace", touch=True, reads="general")
    await write(ada, "Dinner?")
    reaction = message(grace, "Dinner?").locator(".reaction")
    dialog = grace.page.get_by_role("dialog", name="Reactions")
    await message(grace, "Dinner?").locator(".text").tap()
    await do(ada, "Dinner?", "React")
    await ada.page.get_by_role("button", name="🎉", exact=True).click()
    await expect(reaction).to_be_visible()
    # A touched message keeps its buttons when it moves away from the finger.
    await expect(message(grace, "Dinner?").locator(".actions-lane")).to_have_css("opacity", "1")
    await message(grace, "Dinner?").get_by_role("button", name="More").tap()
    await grace.page.get_by_role("menuitem", name="Reactions").tap()
    await expect(dialog.locator(".person-row > [dir]")).to_have_text(["Ada"])
    await dialog.get_by_role("button", name="Close").tap()
    await expect(dialog).to_have_count(0)
    # A long press on the reaction also opens the dialog. Phones dispatch this event for a long press, but
    # headless Chromium does not.
    await reaction.dispatch_event("contextmenu")
    await expect(dialog.locator(".person-row > [dir]")).to_have_text(["Ada"])
    await dialog.get_by_role("button", name="Close").tap()
    await expect(dialog).to_have_count(0)
    # Neither gesture added a reaction.
    await expect(reaction).to_have_accessible_name("🎉 1 person")
    await reaction.tap()
    await expect(reaction).to_have_accessible_name("🎉 2 people")
    # A swipe in the reading direction opens the channel list, and a swipe back closes it.
    channels = grace.page.locator("#channels")
    size = grace.page.viewport_size
    if size == NARROW:
        await expect(channels).to_be_hidden()

    async def opened() -> bool:
        await swipe(grace, 60, 240)
        return await grace.page.locator(".home[data-drawer=open]").count() == 1

    await wait_until("the swipe opened the list", opened, within_s=15)
    await expect(channels).to_be_visible()
    await expect(grace.page.locator(".home")).to_have_attribute(
        "data-drawer", "open" if size == NARROW else "shut"
    )
    await swipe(grace, 240, 60)
    await expect(grace.page.locator(".home")).to_have_attribute("data-drawer", "shut")
    # A long swipe back on a message starts a reply, and a short one does nothing.
    box_of = await message(grace, "Dinner?").bounding_box()
    assert box_of
    line = box_of["y"] + box_of["height"] / 2
    await swipe(grace, 200, 160, line)
    await expect(grace.page.locator(".reply-line")).to_have_count(0)
    await swipe(grace, 260, 120, line)
    await expect(grace.page.locator(".reply-line")).to_contain_text("Dinner?")


async def post_message(http: ClientSession, text: str) -> None:
    """Post a message over HTTP. If it is rate limited, wait as long as the server requires."""
    while True:
        async with http.post("/api/channels/general/messages", json={"text": text}) as response:
            if response.status != 429:
                assert response.status == 201
                return
            wait_ms = (await response.json())["retry_after_ms"]
        await asyncio.sleep(wait_ms / 1000)


@narrow_only
async def test_scrolling_up_loads_older_messages_without_jumping(people: People, product: SvcUp) -> None:
    ada = await people.arrive("Ada", reads="general")
    token = await ada.page.evaluate(OWN_TOKEN)
    texts = [f"message {number}" for number in range(120)]
    async with ClientSession(address_of(product), headers={"Authorization": f"Bearer {token}"}) as http:
        for text in texts:
            await post_message(http, text)
    await ada.page.reload()
    await expect(message(ada, texts[-1])).to_be_in_viewport()
    shown = ada.page.locator(".message")
    await expect(shown).to_have_count(50)  # At first, only the last messages are rendered.
    first, before = await ada.page.locator("#messages-box").evaluate(TO_THE_TOP)
    await expect(shown.first).not_to_contain_text(first)
    after = await message(ada, first).locator(".body > .text").bounding_box()
    assert after is not None and abs(after["y"] - before) < 2

    async def at_the_beginning() -> bool:
        await ada.page.locator("#messages-box").evaluate("(box) => { box.scrollTop = 0; }")
        return await ada.page.locator("#beginning").is_visible()

    await wait_until("the beginning of the channel is shown", at_the_beginning, within_s=15)
    await shows(ada, texts)
    await ada.press("Jump to latest")
    await expect(message(ada, texts[-1])).to_be_in_viewport()
    # The keyboard also scrolls the messages while the focus is in the message field.
    await box(ada).press("PageUp")
    await expect(message(ada, texts[-1])).not_to_be_in_viewport()
    await box(ada).press("PageDown")
    await expect(message(ada, texts[-1])).to_be_in_viewport()
    await box(ada).press("PageUp")
    await ada.press("Jump to latest")
    await expect(message(ada, texts[-1])).to_be_in_viewport()
    await stays_at_the_end(shown.last)


@wide_only
async def test_unread_messages_are_counted_until_they_are_read(people: People, axe: str) -> None:
    ada, grace = await both(people)
    await open_channel(ada, "random")
    await write(grace, "one")
    await is_listed_as(ada, "general", "general 1 unread")
    ada_id = await ada.page.evaluate(OWN_ID)
    await write(grace, f"two for [Ada](mention:{ada_id})")
    await is_listed_as(ada, "general", "general 2 unread, 1 mention")
    await ada.show_channels()
    await expect_accessible(ada, axe, "unread channels")
    await ada.hide_channels()
    await is_listed_as(grace, "general", "general")

    await open_channel(ada, "general")
    await shows(ada, ["one", "two for @Ada"])
    await expect(message(ada, "two").locator(".mention.own")).to_have_text("@Ada")
    await is_listed_as(ada, "general", "general")
    await write(grace, "three")
    await shows(ada, ["one", "two for @Ada", "three"])
    await open_channel(ada, "random")
    # After a switch to another channel, nothing is unread, neither on the page nor on the server.
    await is_listed_as(ada, "general", "general")
    await ada.page.reload()
    await expect(entry(ada, "random")).to_have_attribute("aria-current", "page")
    await is_listed_as(ada, "general", "general")


@wide_only
async def test_consecutive_messages_from_a_webhook_show_its_name_only_once(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    url = await webhook(ada)
    for text, name in (("First", "CI"), ("Second", "CI"), ("Third", "Deploy")):
        await post(url, {"text": text, "display_name": name})
    for text, name in (("First", "CI"), ("Third", "Deploy")):
        await expect(message(ada, text).locator(".author")).to_have_text(name)
        await expect(message(ada, text).locator(".mark")).to_have_text(["webhook"])
        for selector in (".author", ".avatar"):
            await expect(message(ada, text).locator(selector)).to_be_visible()
    follows = message(ada, "Second")
    await expect(follows.locator(".mark")).to_have_count(0)
    await follows.click(button="right")
    await ada.page.get_by_role("menuitem", name="Pin", exact=True).click()
    # Later messages show only new information and do not repeat the author.
    await expect(follows.locator(".mark")).to_have_text(["pinned"])
    for selector in (".author", ".avatar"):
        await expect(follows.locator(selector)).to_be_hidden()


@wide_daily
async def test_a_webhooks_card_is_displayed(people: People, axe: str) -> None:
    ada = await people.arrive("Ada", reads="general")
    card = {
        "title": "Build 512 **failed**",
        "url": "https://ci.example/builds/512",
        "description": "2 of 300 tests, see the [log](https://ci.example/log)",
        "color": "#cf222e",
        "author": {"name": "main", "url": "https://ci.example/main"},
        "fields": [{"name": "Took", "value": "`3 min`", "inline": True}, {"name": "By", "value": "Ada"}],
        "footer": {"text": "ci.example"},
        "timestamp": "2026-01-31T12:00:00Z",
    }
    url = await webhook(ada)
    await post(url, {"text": "Done", "display_name": "CI", "cards": [card]})
    await expect(message(ada, "Done").locator(".author")).to_have_text("CI")
    await expect(message(ada, "Done").locator(".byline .mark")).to_have_text(["webhook"])
    shown = message(ada, "Done").locator(".webhook-card")
    # The card's title is always plain text.
    title = shown.get_by_role("link", name="Build 512 **failed**")
    await expect(title).to_have_attribute("href", "https://ci.example/builds/512")
    await expect(title).to_have_attribute("rel", "noopener noreferrer")
    await expect(shown.get_by_role("link", name="log")).to_have_attribute("href", "https://ci.example/log")
    await expect(shown.locator("dt")).to_have_text(["Took", "By"])
    await expect(shown.locator("dd code")).to_have_text("3 min")
    await expect(shown.locator("time")).to_have_attribute("datetime", "2026-01-31T12:00:00.000Z")
    await expect(shown.locator(".card-footer")).to_contain_text("ci.example")
    await expect(shown).to_have_css("border-left-color", "rgb(207, 34, 46)")
    await expect_accessible(ada, axe, "a webhook's card")


async def test_hostile_markdown_in_messages_and_cards_is_shown_as_text(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    hostile = [text for text in HOSTILE["markdown"] if text.isprintable()]
    half = len(hostile) // 2
    ada.page.on("dialog", lambda dialog: ada.faults.append(f"said {dialog.message}"))
    for texts in (hostile[:half], hostile[half:]):
        text = "\n\n".join(texts)
        fields = [{"name": text[:200], "value": text[:900]}]
        card = {"title": texts[0], "description": text, "fields": fields}
        await post(await webhook(ada), {"text": text, "cards": [card]})
        await expect(ada.page.locator(".webhook-card h3").last).to_have_text(texts[0])
    assert await ada.page.locator("#messages .body :is(img, script, svg, iframe, style)").count() == 0
    links = ada.page.locator("#messages .text a, #messages .webhook-card a")
    protocols = await links.evaluate_all("(links) => links.map((link) => link.protocol)")
    assert set(protocols) == {"https:"}


@narrow_only
async def test_an_uploaded_image_appears_for_others(people: People) -> None:
    ada, grace = await both(people)
    picture = encoded(scene(320, 240), "PNG")
    done = ada.page.locator(".upload-list [data-state=done]")
    refused = ada.page.locator(".upload-list [data-state=refused]")
    await ada.page.locator("#files").set_input_files(
        {"name": "scene.png", "mimeType": "image/png", "buffer": picture}
    )
    await expect(done).to_have_count(1)
    # The second image comes from the clipboard, and the third is corrupt.
    await box(ada).evaluate(
        """(field, bytes) => {
          const clipboardData = new DataTransfer();
          clipboardData.items.add(new File([new Uint8Array(bytes)], "pasted.png", { type: "image/png" }));
          const broken = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]);
          clipboardData.items.add(new File([broken], "broken.png", { type: "image/png" }));
          field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true }));
        }""",
        list(encoded(scene(64, 48), "PNG")),
    )
    await expect(done).to_have_count(2)
    await expect(refused).to_have_count(1)
    await write(ada, "Look")
    pictures = message(grace, "Look").locator(".gallery img")
    await expect(pictures).to_have_count(2)
    # The page reserves space for images before they load. The images come from this server.
    room = await pictures.first.bounding_box()
    assert room is not None and room["width"] == room["height"] > 100
    assert (await pictures.first.get_attribute("src") or "").startswith("/media/")
    await ada.page.locator(".upload-list [data-state=refused]").get_by_role("button").last.click()
    await expect(ada.page.locator(".upload-list li")).to_have_count(0)

    # A single image keeps its aspect ratio.
    await ada.page.locator("#files").set_input_files(
        {"name": "scene.png", "mimeType": "image/png", "buffer": picture}
    )
    await expect(done).to_have_count(1)
    await write(ada, "Closer")
    frame = message(grace, "Closer").locator(".frame")
    room = await frame.bounding_box()
    assert room is not None and 300 <= room["width"] <= 320
    assert room["width"] / room["height"] == pytest.approx(320 / 240)
    await expect(message(grace, "Closer").locator(".frame.loaded")).to_have_count(1)
    image = frame.locator("img")
    assert await image.evaluate("(image) => [image.naturalWidth, image.naturalHeight]") == [320, 240]


@wide_only
async def test_a_member_who_may_no_longer_write_sees_the_reason(
    people: People, product: SvcUp, axe: str
) -> None:
    owner, grace = await both(people)
    await write(grace, "I was here")
    headers = {"Authorization": f"Bearer {await owner.page.evaluate(OWN_TOKEN)}"}
    async with ClientSession(address_of(product), headers=headers) as http:
        path = "/api/channels/general"
        async with http.put(path + "/overrides/role/member", json={"deny": ["send_messages"]}) as response:
            assert response.status == 200, await response.text()
        await expect(box(grace)).to_be_disabled()
        await expect(box(grace)).to_have_attribute("placeholder", "You can’t send messages here.")
        await expect(box(owner)).to_be_enabled()
        await expect_accessible(grace, axe, "a read-only channel")
        async with http.delete(path) as response:
            assert response.status == 204, await response.text()
    await expect(entry(grace, "general")).to_have_count(0)
    await expect(grace.page.locator("#text-name")).to_have_text("random")


async def test_a_call_continues_while_its_participants_read_channels(
    people: People, product: SvcUp, axe: str
) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await ada.join()
    await grace.join()
    await open_channel(ada, "general")
    await open_channel(grace, "general")
    await write(ada, "Do you hear me?")
    await shows(grace, ["Do you hear me?"])
    await asyncio.gather(ada.hears(grace), grace.hears(ada))
    await at_both_sizes(ada, axe, "a channel during a call")
    (invite,) = parse_qs(urlsplit(product.url).fragment)["invite"]
    address = address_of(product)
    async with ClientSession(address) as http, ChatServer(address, http, invite).member("Olga") as olga:
        voice = {person["nickname"] for person in olga.welcome["voice"]["voice"]}
    assert voice == {"Ada", "Grace"}
    # The call's buttons stay available, and the voice channel's entry leads back to the call.
    await ada.press("Mute")
    await entry(ada, "Voice").click()
    await expect(ada.page.locator("#people")).to_be_visible()
    await wait_for_value(ada.shown_people, ["Ada", "Grace"])
