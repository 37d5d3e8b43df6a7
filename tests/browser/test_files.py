"""Any file: kept as it came and never rendered; sound and video play in place, pictures are written anew."""

import re

from playwright.async_api import FilePayload, Locator, expect

from tests.kit.community import ask
from tests.kit.people import People, both_widths
from tests.kit.pictures import SECRET, tell_tale
from tests.kit.text_channels import come_to_read, message, write
from tests.kit.videos import sound_file, video

DOCUMENT = b"<!doctype html><title>x</title><script>alert(1)</script>" + bytes(2_000)
# What the browser is told about a file, and what it holds.
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


@both_widths
async def test_any_file_is_shown_by_what_it_is(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    for person in (ada, grace):
        await come_to_read(person)
    song = sound_file("mp3", "libmp3lame")
    files: dict[str, bytes] = {
        "tone.mp3": song,
        "film.mp4": video(size=(640, 360)),
        "picture.bin": tell_tale("PNG"),
        "page.html": DOCUMENT,
        "report.zip": b"PK\x03\x04" + bytes(1_500_000),
    }
    given = [FilePayload(name=name, mimeType="", buffer=content) for name, content in files.items()]
    await grace.page.locator("#files").set_input_files(given)
    done = grace.page.locator(".upload-list [data-state=done]")
    await expect(done).to_have_count(len(files))
    await write(grace, "All kinds")
    said = message(ada, "All kinds")
    assert not await ada.page.locator("#messages-box").evaluate(SIDEWAYS)

    # Sound and video play where they stand.
    await expect(said.locator(".sound figcaption")).to_have_text(re.compile(r"^tone\.mp3 \d+ kB$"))
    await plays(said.locator("audio"))
    film = said.locator("video")
    await expect(film).to_have_attribute("poster", re.compile("^/media/"))
    await plays(film)
    assert await film.evaluate("(film) => film.videoWidth / film.videoHeight") == 640 / 360

    # A picture is one whatever it is called, and nothing that its camera told is left.
    picture = said.locator(".openable img")
    await expect(picture).to_have_js_property("complete", True)
    _, written = await ada.page.evaluate(FETCH, await picture.get_attribute("src"))
    assert SECRET.decode() not in written

    # Everything else is a name, a size and a way to save it.
    listed = said.locator(".file")
    await expect(listed).to_have_text(
        [re.compile(r"^page\.html 2\.1 kB$"), re.compile(r"^report\.zip 1\.5 MB$")]
    )
    link = listed.get_by_role("link", name="page.html")
    headers, kept = await ada.page.evaluate(FETCH, await link.get_attribute("href"))
    assert kept.encode("latin1") == DOCUMENT
    assert headers["content-disposition"].startswith("attachment")
    assert headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in headers["content-security-policy"]
    async with ada.page.expect_download() as started:
        await link.click()
    assert (await started.value).suggested_filename == "page.html"

    # Search finds each by its kind.
    for kind in ("audio", "video", "image", "file"):
        found = (await ask(ada, "GET", f"/api/search?query=has:{kind}"))["messages"]
        assert [each["text"] for each in found] == ["All kinds"], kind
