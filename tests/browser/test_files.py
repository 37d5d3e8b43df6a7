"""Files of other types are stored unchanged and never rendered.

Audio and video play in the message, and images are re-encoded.
"""

import re
from pathlib import Path

from playwright.async_api import FilePayload, Locator, ViewportSize, expect

from tests.browser.test_accessibility import at_both_sizes, axe, expect_accessible
from tests.browser.test_hostile_content import TOO_WIDE
from tests.browser.test_sign_up import installation
from tests.kit.browser_users import People, SharedBrowsers, narrow_only, wide_only
from tests.kit.community import ask
from tests.kit.pictures import SECRET, picture_with_metadata
from tests.kit.text_channels import message, write
from tests.kit.videos import sound_file, video

__all__ = ["axe"]

DOCUMENT = b"<!doctype html><title>x</title><script>alert(1)</script>" + bytes(2_000)
# Fetches a file. Returns the response headers and the content.
FETCH = """async (url) => {
  const answer = await fetch(url);
  const text = new TextDecoder("latin1").decode(await answer.arrayBuffer());
  return [Object.fromEntries(answer.headers), text];
}"""
PLAY = "async (element) => { element.muted = true; await element.play(); }"
HAS_PLAYED = "(element) => element.currentTime > 0.2"
SIDEWAYS = "(box) => box.scrollWidth > box.clientWidth"


async def plays(media: Locator) -> None:
    await media.evaluate(PLAY)
    handle = await media.element_handle()
    await media.page.wait_for_function(HAS_PLAYED, arg=handle)


@narrow_only
async def test_every_file_is_displayed_according_to_its_type(people: People, axe: str) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.arrive("Grace", reads="general")
    song = sound_file("mp3", "libmp3lame")
    files: dict[str, bytes] = {
        "tone.mp3": song,
        "film.mp4": video(size=(640, 360)),
        "picture.bin": picture_with_metadata("PNG"),
        "page.html": DOCUMENT,
        "report.zip": b"PK\x03\x04" + bytes(1_500_000),
    }
    given = [FilePayload(name=name, mimeType="", buffer=content) for name, content in files.items()]
    await grace.page.locator("#files").set_input_files(given)
    done = grace.page.locator(".upload-list [data-state=done]")
    await expect(done).to_have_count(len(files))
    await write(grace, "All kinds")
    posted = message(ada, "All kinds")
    assert not await ada.page.locator("#messages-box").evaluate(SIDEWAYS)

    # Audio and video play in place.
    await expect(posted.locator(".sound figcaption")).to_have_text(re.compile(r"^tone\.mp3 \d+ kB$"))
    await plays(posted.locator("audio"))
    film = posted.locator("video")
    await expect(film).to_have_attribute("poster", re.compile("^/media/"))
    await plays(film)
    assert await film.evaluate("(film) => film.videoWidth / film.videoHeight") == 640 / 360

    # Images are recognised regardless of their names, and all metadata is removed.
    picture = posted.locator(".openable img")
    await expect(picture).to_have_js_property("complete", True)
    _, written = await ada.page.evaluate(FETCH, await picture.get_attribute("src"))
    assert SECRET.decode() not in written

    # Other files appear with a name, a size and a download link.
    listed = posted.locator(".file")
    await expect(listed).to_have_text(
        [re.compile(r"^page\.html 2\.1 kB$"), re.compile(r"^report\.zip 1\.5 MB$")]
    )
    await at_both_sizes(ada, axe, "files of all kinds")
    link = listed.get_by_role("link", name="page.html")
    headers, kept = await ada.page.evaluate(FETCH, await link.get_attribute("href"))
    assert kept.encode("latin1") == DOCUMENT
    assert headers["content-disposition"].startswith("attachment")
    assert headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in headers["content-security-policy"]
    async with ada.page.expect_download() as started:
        await link.click()
    assert (await started.value).suggested_filename == "page.html"

    # A search finds each file by its kind.
    for kind in ("audio", "video", "image", "file"):
        messages = (await ask(ada, "GET", f"/api/search?query=has:{kind}"))["messages"]
        assert [message["text"] for message in messages] == ["All kinds"], kind


ACCEPTED = (
    "Only pictures (PNG, JPEG, WebP, GIF, AVIF, HEIC) and videos (MP4, MOV, WebM, Matroska, AVI) are accepted"
)


@narrow_only
async def test_files_of_unlisted_types_are_rejected_and_the_others_are_sent(
    browsers: SharedBrowsers, tmp_path: Path, viewport: ViewportSize, axe: str
) -> None:
    async with installation(browsers, tmp_path, viewport, SVC_FILE_EXTENSIONS="pdf, mp3") as (_, people):
        ada = await people.arrive("Ada", reads="general")
        files = {
            "letter.PDF": b"%PDF-1.4 letter",
            "archive.zip": b"PK\x03\x04",
            "seal.bin": picture_with_metadata("PNG"),
        }
        given = [FilePayload(name=name, mimeType="", buffer=content) for name, content in files.items()]
        await ada.page.locator("#files").set_input_files(given)
        await expect(ada.page.locator(".upload-list [data-state=done]")).to_have_count(2)
        refused = ada.page.locator(".upload-list [data-state=refused]")
        hint = f"{ACCEPTED}, and files with these extensions: pdf, mp3."
        await expect(refused.get_by_role("status")).to_have_text(hint)
        # There is no retry button, because the server would reject the file again.
        await expect(refused.get_by_role("button")).to_have_count(1)
        await expect_accessible(ada, axe, "a refused file")
        assert await ada.page.evaluate(TOO_WIDE) == []
        await refused.get_by_role("button", name="Remove archive.zip").click()
        await write(ada, "The rest")
        posted = message(ada, "The rest")
        await expect(posted.get_by_role("link", name="letter.PDF")).to_be_visible()
        await expect(posted.locator(".openable img")).to_be_visible()


@wide_only
async def test_images_are_sent_even_if_the_operator_accepts_no_files(
    browsers: SharedBrowsers, tmp_path: Path, viewport: ViewportSize
) -> None:
    settings = {"SVC_FILE_MAX_MB": "0", "SVC_FILE_EXTENSIONS": "pdf"}
    async with installation(browsers, tmp_path, viewport, **settings) as (_, people):
        ada = await people.arrive("Ada", reads="general")
        files = {"letter.pdf": b"%PDF-1.4 letter", "seal.png": picture_with_metadata("PNG")}
        given = [FilePayload(name=name, mimeType="", buffer=content) for name, content in files.items()]
        await ada.page.locator("#files").set_input_files(given)
        refused = ada.page.locator(".upload-list [data-state=refused]")
        await expect(refused.get_by_role("status")).to_have_text(f"{ACCEPTED}.")
        await refused.get_by_role("button", name="Remove letter.pdf").click()
        await write(ada, "A seal")
        await expect(message(ada, "A seal").locator(".openable img")).to_be_visible()
