"""Files in private conversations are encrypted in the sender's browser and decrypted in the readers'
browsers.
"""

import asyncio
import io
import re
from pathlib import Path

from PIL import Image
from playwright.async_api import FilePayload, Locator, Route, expect

from tests.browser.test_accessibility import at_both_sizes, axe
from tests.browser.test_attachments import DROP
from tests.browser.test_private import (
    all_bytes,
    both,
    field,
    go_to,
    messages,
    private,
    private_message,
)
from tests.kit.browser_users import People, Person, narrow_only, wide_only
from tests.kit.wait import wait_until

__all__ = ["axe"]

PLACE = "Harbour wall 7"
# Records decrypted files when they are created, because the page's policy forbids fetching them.
NOTED = """(() => {
  const make = URL.createObjectURL;
  globalThis.blobs = new Map();
  URL.createObjectURL = (blob) => { const url = make.call(URL, blob); blobs.set(url, blob); return url; };
})()"""
# Attaches a file and sends the message in the same task, faster than a person could.
ATTACH_AND_SEND = """(field, text) => {
  const files = new DataTransfer();
  files.items.add(new File([text], "minutes.txt", { type: "text/plain" }));
  const input = document.querySelector("#private-files");
  input.files = files.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
  field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
}"""
# Returns the distance between each element and the previous one.
GAPS = """(rows) => rows.map((row) => row.getBoundingClientRect())
  .map(({ top }, at, boxes) => top - (boxes[at - 1]?.bottom ?? top)).slice(1)"""
WORDS = b"Minutes of the regatta committee. " * 200


def photograph() -> FilePayload:
    """Return a photo with its location in the metadata."""
    picture = Image.effect_noise((320, 240), 80).convert("RGB")
    exif = Image.Exif()
    exif[0x010E] = PLACE
    data = io.BytesIO()
    picture.save(data, "JPEG", exif=exif)
    assert PLACE.encode() in data.getvalue()
    return {"name": "lighthouse.jpg", "mimeType": "image/jpeg", "buffer": data.getvalue()}


async def put(person: Person, *files: FilePayload) -> None:
    """Attach files. Wait until the server has received them."""
    await person.page.locator("#private-files").set_input_files(list(files))
    await expect(person.page.locator("#private .upload-list li[data-state=done]")).to_have_count(len(files))


async def talk(people: People) -> tuple[Person, Person]:
    ada, grace = await both(people)
    for person in (ada, grace):
        await person.page.add_init_script(NOTED)
        await person.page.evaluate(NOTED)
    await private(ada, "Grace")
    await go_to(grace, "Ada")
    return ada, grace


def pictures(person: Person) -> Locator:
    return person.page.locator("#private .message:not(.pending) .media img")


async def loaded(picture: Locator) -> bytes:
    """Return the bytes of a displayed image."""
    await expect(picture).to_have_js_property("naturalWidth", 320)
    content = await picture.evaluate(
        "async (img) => [...new Uint8Array(await blobs.get(img.src).arrayBuffer())]"
    )
    return bytes(content)


async def saved(person: Person, name: str) -> bytes:
    link = person.page.locator("#private").get_by_role("link", name=name)
    async with person.page.expect_download() as download:
        await link.click()
    completed = await download.value
    assert completed.suggested_filename == name
    return await asyncio.to_thread((await completed.path()).read_bytes)


@narrow_only
async def test_images_and_documents_arrive_but_the_server_cannot_read_them(
    people: People, tmp_path: Path, axe: str
) -> None:
    ada, grace = await talk(people)
    photo = photograph()
    await put(ada, photo)
    dropped = [{"name": "minutes.txt", "type": "text/plain", "bytes": list(WORDS)}]
    await ada.page.locator("#private .timeline").evaluate(DROP, dropped)
    await expect(ada.page.locator("#private .upload-list li[data-state=done]")).to_have_count(2)
    await field(ada).fill("Two files")
    await field(ada).press("Enter")
    # The image appears automatically and contains no location.
    for person in (ada, grace):
        await expect(messages(person)).to_have_text(["Two files"])
        await expect(pictures(person)).to_have_count(1)
    shown = await loaded(pictures(grace))
    assert shown[:3] == b"\xff\xd8\xff"
    assert PLACE.encode() not in shown
    # The document opens on request.
    await grace.page.get_by_role("button", name="Open minutes.txt").click()
    assert await saved(grace, "minutes.txt") == WORDS
    await pictures(grace).click()
    await expect(grace.page.locator("dialog.lightbox img")).to_be_visible()
    await grace.page.keyboard.press("Escape")

    stored = [path for path in (tmp_path / "data" / "uploads-store").rglob("*") if path.is_file()]
    assert len(stored) == 2
    kept = all_bytes(tmp_path)
    for part in (b"regatta", b"minutes.txt", b"lighthouse.jpg", PLACE.encode(), shown[:64], shown[600:700]):
        assert part not in kept

    # An image that was displayed before remains available even if the server no longer delivers it.
    await grace.page.route("**/files/*", lambda route: route.abort())
    await grace.page.reload()
    await expect(pictures(grace)).to_have_count(1)
    assert await loaded(pictures(grace)) == shown
    await at_both_sizes(grace, axe, "private files")

    # Deleting the message also deletes its files, in the browser and on the server.
    await private_message(ada, "Two files").hover()
    await private_message(ada, "Two files").get_by_role("button", name="Delete", exact=True).click()
    await ada.page.get_by_role("dialog").get_by_role("button", name="Delete message").click()
    for person in (ada, grace):
        await expect(messages(person)).to_have_count(0)

    async def gone() -> bool:
        return not any(path.exists() for path in stored)

    await wait_until("no parts of the files are stored", gone, within_s=10)


@wide_only
async def test_hostile_files_can_be_downloaded_but_never_run_and_tampered_files_are_not_shown(
    people: People,
) -> None:
    ada, grace = await talk(people)
    script = b"<script>top.document.title = 'taken'; top.taken = true</script>"
    page: FilePayload = {"name": "page.html", "mimeType": "text/html", "buffer": script}
    drawing: FilePayload = {
        "name": "drawing.svg",
        "mimeType": "image/svg+xml",
        "buffer": b"<svg xmlns='http://www.w3.org/2000/svg' onload='top.taken = true'></svg>",
    }
    # The file claims to be an image. The sender's browser would notice that it is not when re-encoding it.
    false: FilePayload = {"name": "false.png", "mimeType": "image/png", "buffer": script}
    await put(ada, page, drawing, false)
    await field(ada).press("Enter")
    # Each file has an entry with its name and size.
    listed = grace.page.locator("#private .file")
    await expect(listed).to_have_text(
        [re.compile(rf"^{name} \d+ bytes?$") for name in ("page.html", "drawing.svg", "false.png")]
    )
    assert all(gap >= 4 for gap in await listed.evaluate_all(GAPS))
    for name in ("page.html", "drawing.svg", "false.png"):
        await grace.page.get_by_role("button", name=f"Open {name}").click()
        link = grace.page.locator("#private").get_by_role("link", name=name)
        kind = await link.evaluate("(link) => blobs.get(link.href).type")
        assert kind == "application/octet-stream", name
        assert await saved(grace, name)
    await expect(pictures(grace)).to_have_count(0)
    assert await grace.page.evaluate("window.taken") is None

    await put(ada, {"name": "minutes.txt", "mimeType": "text/plain", "buffer": WORDS})
    await field(ada).press("Enter")
    opener = grace.page.get_by_role("button", name="Open minutes.txt")
    await expect(opener).to_be_visible()
    await grace.page.route("**/files/*", lambda route: route.fulfill(body=b"something else"))
    await opener.click()
    alert = grace.page.locator("#private .file").get_by_role("alert")
    await expect(alert).to_contain_text("This isn’t the file that was sent")
    await grace.page.unroute("**/files/*")
    gone = {"error": "unknown_file", "message": "This file no longer exists"}
    await grace.page.route("**/files/*", lambda route: route.fulfill(status=404, json=gone))
    await grace.page.locator("#private .file").get_by_role("button", name="Try again").click()
    await expect(alert).to_contain_text("no longer has this file")
    await grace.page.unroute("**/files/*")
    await grace.page.locator("#private .file").get_by_role("button", name="Try again").click()
    assert await saved(grace, "minutes.txt") == WORDS


@narrow_only
async def test_a_message_waits_for_its_files_and_is_then_sent(people: People) -> None:
    ada, grace = await talk(people)
    let_go = asyncio.Event()
    tries = 0

    async def cut_then_held(route: Route) -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            await route.abort()
            return
        await let_go.wait()
        await route.continue_()

    await ada.page.route("**/files", cut_then_held)
    minutes: FilePayload = {"name": "minutes.txt", "mimeType": "text/plain", "buffer": WORDS}
    await ada.page.locator("#private-files").set_input_files([minutes])
    await field(ada).fill("As promised")
    await field(ada).press("Enter")
    await expect(ada.page.get_by_text("sent when the files are uploaded")).to_be_visible()
    await expect(field(ada)).to_have_value("As promised")
    let_go.set()
    await expect(messages(grace)).to_have_text(["As promised"])
    await expect(grace.page.get_by_role("button", name="Open minutes.txt")).to_be_visible()
    await expect(field(ada)).to_have_value("")
    assert tries > 1

    # The message also waits if it is sent immediately after a file was attached.
    await field(ada).fill("At once")
    await field(ada).evaluate(ATTACH_AND_SEND, WORDS.decode())
    arrived = private_message(grace, "At once")
    await expect(arrived.get_by_role("button", name="Open minutes.txt")).to_be_visible()
    await expect(field(ada)).to_have_value("")
    await expect(messages(ada)).to_have_text(["As promised", "At once"])

    # There is no button to resend a message that can never be sent.
    nothing: FilePayload = {"name": "nothing.txt", "mimeType": "text/plain", "buffer": b""}
    await ada.page.locator("#private-files").set_input_files([nothing])
    refused = ada.page.locator("#private .upload-list li")
    await expect(refused.get_by_role("status")).to_contain_text("can’t be empty")
    await expect(refused.get_by_role("button")).to_have_accessible_name("Remove nothing.txt")
