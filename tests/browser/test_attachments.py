"""Files can be dropped, uploaded, cancelled, described, hidden as spoilers and sent with a message."""

import asyncio
import re
from collections.abc import Mapping

from playwright.async_api import Locator, Route, expect

from tests.browser.test_accessibility import at_both_sizes, axe, expect_accessible
from tests.kit.browser_users import People, Person, narrow_only, wide_only
from tests.kit.community import ask
from tests.kit.pictures import encoded, scene
from tests.kit.text_channels import LiveConnection, both, box, join_and_open, message, write
from tests.kit.wait import wait_until

__all__ = ["axe"]

DROP = """(target, files) => {
  const dataTransfer = new DataTransfer();
  for (const { name, type, bytes } of files) {
    dataTransfer.items.add(new File([new Uint8Array(bytes)], name, { type }));
  }
  for (const kind of ["dragover", "drop"]) {
    target.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
  }
}"""
PIECE_BYTES = 8 * 2**20
ONE = re.compile(r"^one\.\w+$")  # The server re-encodes images in a format that it chooses.
DRAFTS = """async () => {
  const token = JSON.parse(localStorage.getItem("svc.identity")).access_token;
  const answer = await fetch("/api/drafts", { headers: { Authorization: `Bearer ${token}` } });
  return (await answer.json()).drafts;
}"""
UNSAVED = """
const drafts = JSON.parse(localStorage.getItem("svc.drafts") ?? "{}");
for (const each of Object.values(drafts)) each.saved = "";
localStorage.setItem("svc.drafts", JSON.stringify(drafts));
"""
# Returns whether the end of a message is visible in the message list.
ENDS_IN_SIGHT = """(message) => {
  const { bottom } = message.getBoundingClientRect();
  const box = message.closest(".messages-box").getBoundingClientRect();
  return bottom <= box.bottom + 1 && bottom > box.top;
}"""

# Returns whether an audio player has the length of the audio before it has played anything.
MEASURED = "({ duration, currentTime }) => duration > 0 && duration < 60 && currentTime === 0"


def picture(name: str, width: int = 320) -> dict[str, object]:
    return {"name": name, "type": "image/png", "bytes": list(encoded(scene(width, 240), "PNG"))}


def zeros(name: str, size: int) -> dict[str, object]:
    return {"name": name, "type": "", "bytes": size}


async def drop(person: Person, *files: Mapping[str, object]) -> None:
    await person.page.locator("#text").evaluate(DROP, list(files))


def uploads(person: Person, state: str) -> Locator:
    return person.page.locator(f".upload-list [data-state={state}]")


@narrow_only
async def test_a_sent_message_scrolls_into_view_for_its_author(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    for number in range(4):
        await write(ada, f"Before {number}" + "\nand more" * 12)

    async def end_is_visible() -> bool:
        return bool(await ada.page.locator(".messages .message").last.evaluate(ENDS_IN_SIGHT))

    async def scroll_up() -> None:
        await ada.page.locator("#messages-box").evaluate("(box) => { box.scrollTop = 0; }")
        await expect(ada.page.get_by_role("button", name="Jump to latest")).to_be_visible()

    await scroll_up()
    await write(ada, "One\nof\nthree lines")
    await wait_until("three lines are visible", end_is_visible, within_s=15)
    await scroll_up()
    await write(ada, "Higher than the window" + "\nand more" * 60)
    await wait_until("the last of many lines is visible", end_is_visible, within_s=15)
    for number, names in enumerate((["one.png"], ["two.png", "three.png", "four.png"])):
        await scroll_up()
        await drop(ada, *[picture(name, 900) for name in names])
        await expect(uploads(ada, "done")).to_have_count(len(names))
        await write(ada, f"Pictures {number}")
        shown = message(ada, f"Pictures {number}").locator(".openable img")
        await expect(shown).to_have_count(len(names))
        for item in await shown.all():
            await expect(item).to_have_js_property("complete", True)
        await wait_until("the pictures are visible", end_is_visible, within_s=15)


@wide_only
async def test_a_file_shows_its_progress_and_can_be_cancelled(people: People, axe: str) -> None:
    ada = await people.arrive("Ada", reads="general")

    async def only_the_first_piece(route: Route) -> None:
        if route.request.headers.get("upload-offset") in (None, "0"):
            await route.continue_()

    await ada.page.route("**/api/uploads/*", only_the_first_piece)
    await drop(ada, zeros("large.bin", 2 * PIECE_BYTES))
    upload = ada.page.locator(".upload-list li")
    progress = upload.get_by_role("progressbar", name="Uploading large.bin")
    await expect(progress).to_have_js_property("value", 0.5)
    await at_both_sizes(ada, axe, "an upload in progress")
    await ada.press("Remove large.bin")
    await expect(upload).to_have_count(0)
    await ada.page.unroute("**/api/uploads/*")

    async def nothing_is_left() -> bool:
        return not (await ask(ada, "GET", "/api/uploads"))["uploads"]

    await wait_until("the server has deleted the upload", nothing_is_left, within_s=30)
    # A file that is too large is rejected as soon as the server knows its type. The error states the limit.
    pieces: list[str | None] = []
    ada.page.on("request", lambda request: pieces.append(request.headers.get("upload-offset")))
    await drop(ada, zeros("larger.bin", 100 * 2**20 + 1))
    await expect(upload.get_by_role("status")).to_have_text("The file is too large. The limit is 100 MB.")
    await at_both_sizes(ada, axe, "a file that is too large")
    assert [offset for offset in pieces if offset is not None] == ["0"]
    await expect(upload.get_by_role("button", name="Try again")).to_have_count(0)
    await ada.press("Remove larger.bin")
    await expect(upload).to_have_count(0)


@wide_only
async def test_a_message_waits_for_its_uploads_and_is_then_sent(people: People) -> None:
    ada, grace = await both(people)
    go_on = asyncio.Event()

    async def hold(route: Route) -> None:
        await go_on.wait()
        await route.continue_()

    await ada.page.route("**/api/uploads/*", hold)
    await drop(ada, picture("one.png"))
    await box(ada).fill("Look")
    await box(ada).press("Enter")
    await expect(
        ada.page.get_by_text("Your message will be sent when the files are uploaded.")
    ).to_be_visible()
    await expect(box(ada)).to_have_value("Look")
    go_on.set()
    await expect(message(grace, "Look").locator("img[alt]").last).to_have_attribute("alt", ONE)
    await expect(box(ada)).to_have_value("")


@wide_only
async def test_dropped_files_can_be_described_sent_and_enlarged(people: People, axe: str) -> None:
    ada, grace = await both(people)
    document: dict[str, object] = {
        "name": "plan.pdf",
        "type": "application/pdf",
        "bytes": list(b"%PDF-1.4 plan"),
    }
    await drop(ada, picture("one.png"), picture("two.png", 400), document)
    await expect(uploads(ada, "done")).to_have_count(3)
    await expect(uploads(ada, "done").locator("img")).to_have_count(2)
    await ada.press("Add a description to one.png")
    await ada.page.get_by_role("dialog").get_by_label("Description").fill("A flag")
    await at_both_sizes(ada, axe, "the description of a file")
    await ada.press("Save")
    await expect(ada.page.get_by_role("dialog")).to_have_count(0)
    await write(ada, "Look")

    shown = message(grace, "Look")
    await expect(shown.locator(".gallery img")).to_have_count(2)
    await expect(shown.get_by_role("img", name="A flag")).to_be_visible()
    await expect(shown.get_by_role("link", name="plan.pdf")).to_have_attribute("download", "plan.pdf")
    await at_both_sizes(grace, axe, "pictures and a file")
    await shown.get_by_role("link", name="A flag").click()
    lightbox = grace.page.get_by_role("dialog")
    await expect(lightbox).to_have_accessible_name("A flag")
    await expect(lightbox).to_contain_text("1 of 2")
    await grace.page.keyboard.press("ArrowRight")
    await expect(lightbox).to_contain_text("2 of 2")
    await expect(lightbox.locator("img")).to_have_attribute("src", re.compile("^/media/"))
    await grace.page.keyboard.press("Escape")
    await expect(lightbox).to_have_count(0)


@narrow_only
async def test_spoilers_are_hidden_until_they_are_pressed(people: People, axe: str) -> None:
    ada, grace = await both(people)
    ending: dict[str, object] = {"name": "end.pdf", "type": "application/pdf", "bytes": list(b"%PDF-1.4")}
    await drop(ada, picture("one.png"), picture("two.png", 400), ending)
    await expect(uploads(ada, "done")).to_have_count(3)
    await ada.press("Add a description to two.png")
    await ada.page.get_by_role("dialog").get_by_label("Description").fill("The butler")
    await ada.press("Save")
    for name in ("two.png", "end.pdf"):
        mark = ada.page.get_by_role("button", name=f"Mark {name} as a spoiler")
        await mark.click()
        await expect(mark).to_have_attribute("aria-pressed", "true")
        await expect(mark).to_be_focused()
    await expect(uploads(ada, "done")).to_have_count(3)
    described = ada.page.get_by_role("button", name="Add a description to two.png")
    await expect(described).to_have_attribute("aria-pressed", "true")
    await expect_accessible(ada, axe, "files marked as spoilers")
    await write(ada, "Who did it")

    shown = message(grace, "Who did it")
    await expect(shown.get_by_role("link", name=ONE)).to_be_visible()
    await expect(shown.get_by_role("button", name="Spoiler: a file. Show")).to_be_visible()
    # Hidden content cannot be reached by keyboard or by screen readers.
    await expect(shown.locator("[inert] a")).to_have_count(2)
    await expect_accessible(grace, axe, "hidden spoilers")
    # The next image is also hidden in the image viewer.
    await shown.get_by_role("link", name=ONE).click()
    lightbox = grace.page.get_by_role("dialog")
    await expect(lightbox).to_have_accessible_name(ONE)
    await grace.page.keyboard.press("ArrowRight")
    await expect(lightbox).to_have_accessible_name("Spoiler")
    await lightbox.get_by_role("button", name="Spoiler: a picture. Show").click()
    await expect(lightbox).to_have_accessible_name("The butler")
    await grace.page.keyboard.press("ArrowLeft")
    await expect(lightbox).to_have_accessible_name(ONE)
    await grace.page.keyboard.press("Escape")
    await shown.get_by_role("button", name="Spoiler: a picture. Show").press("Enter")
    await expect(shown.get_by_role("link", name="The butler")).to_be_focused()
    await shown.get_by_role("button", name="Spoiler: a file. Show").click()
    await expect(shown.get_by_role("link", name="end.pdf")).to_be_focused()
    await expect(shown.locator("[inert]")).to_have_count(0)
    # After a reload, the spoilers are hidden again.
    await grace.page.reload()
    await expect(shown.get_by_role("button", name=re.compile("^Spoiler: a"))).to_have_count(2)


@wide_only
async def test_a_draft_and_its_files_survive_a_reload(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await drop(ada, picture("one.png"))
    await expect(uploads(ada, "done")).to_have_count(1)
    await box(ada).fill("to be continued")

    async def kept() -> bool:
        drafts = await ada.page.evaluate(DRAFTS)
        return [(draft["text"], len(draft["attachments"])) for draft in drafts] == [("to be continued", 1)]

    await wait_until("the server has stored the draft", kept, within_s=15)
    await ada.page.reload()
    await expect(box(ada)).to_have_value("to be continued")
    await expect(uploads(ada, "done")).to_have_count(1)


async def test_a_sent_message_does_not_return_as_a_draft(people: People) -> None:
    ada = await people.arrive("Ada")
    line = LiveConnection()
    await line.intercept(ada)
    await ada.page.reload()
    await join_and_open(ada)

    async def is_late() -> bool:
        return line.is_late

    line.delay("draft_changed")
    await drop(ada, picture("one.png"))
    await expect(uploads(ada, "done")).to_have_count(1)
    await box(ada).fill("See")
    await wait_until("the server has sent `draft_changed`", is_late, within_s=60)
    await box(ada).press("Enter")
    await expect(uploads(ada, "done")).to_have_count(0)
    line.release()
    await expect(message(ada, "See").get_by_role("link", name="one.webp")).to_be_visible()
    await expect(ada.page.locator(".pending")).to_have_count(0)
    await expect(ada.page.locator(".upload-list")).to_have_count(0)
    await expect(box(ada)).to_have_value("")


@wide_only
async def test_a_message_sent_before_the_drafts_are_loaded_does_not_return_as_a_draft(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await box(ada).fill("half a sentence")

    async def kept() -> bool:
        return [draft["text"] for draft in await ada.page.evaluate(DRAFTS)] == ["half a sentence"]

    async def gone() -> bool:
        return bool(await ada.page.evaluate(DRAFTS) == [])

    await wait_until("the server has stored the draft", kept, within_s=15)
    line = LiveConnection()
    await line.intercept(ada)
    line.hold("drafts")
    # Simulate a page that was closed before it learned that the server had stored the draft.
    await ada.page.add_init_script(UNSAVED)
    await ada.page.reload()
    await expect(box(ada)).to_be_enabled()
    await expect(box(ada)).to_have_value("half a sentence")
    await box(ada).press("Enter")
    await expect(message(ada, "half a sentence")).to_be_visible()
    await expect(ada.page.locator(".pending")).to_have_count(0)
    line.release()
    await wait_until("the server has deleted the upload", gone, within_s=15)
    await expect(box(ada)).to_have_value("")


@narrow_only
async def test_a_voice_message_can_be_recorded_and_played(people: People, axe: str) -> None:
    ada, grace = await both(people)
    await ada.press("Record voice message")
    dialog = ada.page.get_by_role("dialog", name="Voice message")
    await expect(dialog.get_by_role("timer")).to_have_text("Recording… 0:01")
    await expect_accessible(ada, axe, "the recording of a voice message")
    await dialog.get_by_role("button", name="Attach").click()
    await expect(uploads(ada, "done")).to_have_count(1)
    # Now the message can be sent.
    await expect(ada.page.get_by_role("button", name="Record voice message")).to_have_count(0)
    await ada.press("Send")
    sound = grace.page.locator(".message audio")
    await expect(sound).to_have_accessible_name(re.compile(r"^Voice message\.\w+$"))
    await expect_accessible(grace, axe, "a voice message")
    # The player shows the length before playback.
    await wait_until("the length is shown", lambda: sound.evaluate(MEASURED), within_s=15)
    await sound.evaluate("(sound) => { sound.muted = true; return sound.play(); }")
    await expect(ada.page.get_by_role("button", name="Record voice message")).to_be_visible()
