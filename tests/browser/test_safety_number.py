"""People in a private conversation can compare the verification number by camera."""

import io
from pathlib import Path

import segno
from PIL import Image
from playwright.async_api import Locator, expect

from tests.browser.calls.test_devices import REFUSE
from tests.browser.test_accessibility import SIZES, at_both_sizes, axe, look
from tests.browser.test_private import both, conversation, messages, private, send_message
from tests.kit.browser_users import FLAGS, Capture, People, Person, bare_chromium, people_at
from tests.kit.svc_up import SvcUp

__all__ = ["axe"]

CAMERA = (640, 480)
# Simulates the built-in QR code reader of browsers on other systems, because Chromium on Linux does not have
# one.
READS_ITSELF = """(number) => {
  globalThis.BarcodeDetector = class {
    static async getSupportedFormats() { return ["qr_code"]; }
    async detect(video) { return video.videoWidth ? [{ rawValue: number }] : []; }
  };
}"""


def held(path: Path, screen: bytes | None) -> None:
    """Write the image that the camera sees: another screen, cropped and slightly tilted, or an empty room."""
    room = Image.new("RGB", CAMERA, (96, 88, 80))
    if screen:
        shown = Image.open(io.BytesIO(screen)).convert("RGBA").resize((300, 300)).rotate(7, expand=True)
        room.paste(shown, (150, 60), shown)
    new = path.with_suffix(".new")
    room.save(new, "JPEG", quality=80)
    new.replace(path)  # The browser may still be reading the previous frame.


def drawn(text: str) -> bytes:
    file = io.BytesIO()
    segno.make(text, micro=False).save(file, kind="png", scale=8, border=4)
    return file.getvalue()


async def with_the_number(people: People) -> tuple[Person, Person]:
    """Open the verification number of the conversation on both people's pages."""
    ada, grace = await both(people, Capture(*CAMERA))
    for person in (ada, grace):
        await person.resize({"width": 1280, "height": 800})
    await private(ada, "Grace")
    await send_message(ada, "Hello")
    await conversation(grace, "Ada").click()
    await expect(messages(grace)).to_have_text(["Hello"])
    for person in (ada, grace):
        await person.press("About encryption")
        await expect(code(person)).to_be_visible()
    return ada, grace


def code(person: Person) -> Locator:
    return person.page.get_by_role("img", name="Safety number as a QR code")


def camera(person: Person) -> Locator:
    return person.page.get_by_label("Camera preview")


def compared(person: Person) -> Locator:
    return person.page.get_by_text("You’ve verified this number.")


async def test_the_number_can_be_compared_by_pointing_the_camera_at_the_other_screen(
    product: SvcUp, tmp_path: Path, axe: str
) -> None:
    seen = tmp_path / "camera.mjpeg"
    held(seen, None)
    flags = (*FLAGS, f"--use-file-for-fake-video-capture={seen}")
    executable = bare_chromium() or ""
    async with people_at(product.url, executable, flags=flags, service_worker=False, still=True) as people:
        ada, grace = await with_the_number(people)
        number = await ada.page.locator(".private-number").inner_text()
        await ada.press("Scan QR code")
        await expect(camera(ada)).to_have_js_property("videoWidth", CAMERA[0])
        await ada.press("Stop camera")
        await expect(camera(ada)).to_have_count(0)

        wrong = {
            "https://chat.example/": "This QR code doesn’t contain a safety number.",
            number.replace(number[0], str((int(number[0]) + 1) % 10)): "The number is different.",
        }
        faults: list[str] = []
        for (text, words), (size, viewport) in zip(wrong.items(), SIZES.items(), strict=True):
            await ada.resize(viewport)
            held(seen, drawn(text))
            await ada.press("Scan QR code")
            await expect(ada.page.get_by_role("alert")).to_contain_text(words)
            for shown in (camera(ada), ada.page.get_by_role("alert")):
                await expect(shown).to_be_in_viewport(ratio=1)
            await look(ada, axe, f"a camera that sees a wrong code, {size}", faults)
            await ada.press("Stop camera")
            await expect(ada.page.get_by_role("alert")).to_have_count(0)
            await expect(compared(ada)).to_have_count(0)
        assert faults == []

        await code(grace).evaluate("(shown) => shown.scrollIntoView({ block: 'center' })")
        held(seen, await code(grace).screenshot())
        await ada.press("Scan QR code")
        await expect(compared(ada)).to_be_visible()
        await expect(camera(ada)).to_have_count(0)
        await expect(code(ada)).to_be_visible()
        assert people.faults == []


async def test_without_a_camera_the_web_client_explains_the_problem(people: People, axe: str) -> None:
    ada, grace = await with_the_number(people)
    await ada.page.evaluate(REFUSE, ["video"])
    await ada.press("Scan QR code")
    refused = "Your browser blocks access to your camera. Allow it in the address bar, then try again."
    await expect(ada.page.get_by_role("alert")).to_have_text(refused)
    await expect(camera(ada)).to_have_count(0)
    await at_both_sizes(ada, axe, "a blocked camera")
    await expect(ada.page.get_by_role("button", name="Scan QR code")).to_be_visible()

    requests: list[str] = []
    grace.page.on("request", lambda request: requests.append(request.url))
    number = await ada.page.locator(".private-number").inner_text()
    await grace.page.evaluate(READS_ITSELF, number)
    await grace.press("Scan QR code")
    await expect(compared(grace)).to_be_visible()
    assert not [url for url in requests if "vendor/qr" in url]
