"""When a call fails to start or breaks, the web client reports the problem and a remedy."""

import os
import signal
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.kit.browser_users import People, Person, bare_chromium
from tests.kit.community import own_id
from tests.kit.coturn import SECRET, TURN, coturn
from tests.kit.external_programs import required
from tests.kit.home_networks import ALL, UDP, home_networks, people_in, server_in, why_not
from tests.kit.svc_up import SvcUp

PORT = 3478
MEDIA = (*UDP, f"tcp dport {PORT}", f"tcp sport {PORT}")
NEITHER = f"This network blocks UDP and TCP port {PORT} of the server."
ELSEWHERE = "Try another network, such as mobile data, or a VPN."


async def start_call(person: Person) -> None:
    await person.come_in()
    await person.page.locator("#voice-channels .channel").first.click()


async def shows_problem(person: Person, words: str) -> None:
    await expect(person.page.locator("#call-trouble")).to_have_text(words)


async def stays_connected(person: Person) -> None:
    await person.is_connected()
    await expect(person.page.locator("#call-trouble")).to_have_count(0)


async def test_a_network_that_blocks_everything_is_reported_before_and_during_a_call(tmp_path: Path) -> None:
    chrome = bare_chromium()
    if (reason := why_not()) or not chrome:
        pytest.skip(reason or "no browser")
    async with home_networks("ada") as world:
        home = world.homes["ada"]
        await home.drops(MEDIA)
        async with (
            server_in(world, tmp_path / "data", "--udp-port", str(PORT)) as product,
            people_in(home, product.url, chrome) as people,
        ):
            ada = await people.arrive("Ada")
            await start_call(ada)
            await shows_problem(ada, f"{NEITHER} {ELSEWHERE}")
            await expect(ada.page.locator("#call-state")).to_have_text("Connecting…")
            await home.passes()
            await stays_connected(ada)
            await home.drops(MEDIA)
            await shows_problem(ada, f"{NEITHER} {ELSEWHERE}")
            await expect(ada.page.locator("#call-state")).to_have_text("Reconnecting…")
            # People who are reading another channel see the problem, too.
            await ada.page.locator("#text-channels .channel").first.click()
            await expect(ada.page.get_by_role("region", name="Your call")).to_contain_text(NEITHER)
            await ada.page.locator("#voice-channels .channel").first.click()
            await home.drops(ALL)
            await shows_problem(
                ada,
                "The server isn’t responding. Check your network. "
                "The call will continue when the server responds.",
            )
            await home.passes()
            await stays_connected(ada)


@pytest.mark.parametrize(
    ("secret", "port", "words"),
    [
        (
            "another secret than the relay has",
            443,
            "The relay rejects the server’s password. Tell the server operator.",
        ),
        (SECRET, 4443, "The relay can’t be reached either."),
    ],
    ids=["wrong secret", "no service"],
)
async def test_a_relay_that_cannot_be_used_is_reported_by_name(
    tmp_path: Path, secret: str, port: int, words: str
) -> None:
    chrome = bare_chromium()
    if (reason := why_not()) or not chrome:
        pytest.skip(reason or "no browser")
    required("turnserver")
    variables = {"TURN_URLS": f"turn:{TURN}:{port}?transport=tcp", "TURN_SECRET": secret}
    async with home_networks("ada") as world:
        home = world.homes["ada"]
        await world.server.ip(f"addr add {TURN}/32 dev lo")
        await home.drops(MEDIA)
        async with (
            coturn(tmp_path, inside=world.server.inside, port=443, tls_port=5349),
            server_in(world, tmp_path / "data", "--udp-port", str(PORT), **variables) as product,
            people_in(home, product.url, chrome) as people,
        ):
            ada = await people.arrive("Ada")
            await start_call(ada)
            await shows_problem(ada, f"{NEITHER} {words} {ELSEWHERE}")


async def test_a_media_service_that_does_not_respond_is_reported_by_name(
    people: People, product: SvcUp
) -> None:
    ada = await people.arrive("Ada")
    stopped = product.program("sfu")
    os.kill(stopped, signal.SIGSTOP)
    try:
        await start_call(ada)
        await shows_problem(
            ada,
            "The server can’t reach its media service, so calls don’t work right now. "
            "Tell the server operator. Your call will continue automatically.",
        )
    finally:
        os.kill(stopped, signal.SIGCONT)
    await stays_connected(ada)


CANNOT = """() => {
  delete navigator.mediaDevices.getDisplayMedia;
  delete MediaDevices.prototype.getDisplayMedia;
  delete window.documentPictureInPicture;
  delete HTMLMediaElement.prototype.setSinkId;
  for (const name of ["pictureInPictureEnabled", "fullscreenEnabled"]) {
    Object.defineProperty(document, name, { value: false });
  }
}"""


async def test_missing_browser_features_are_shown_with_the_reason(people: People) -> None:
    ada = await people.arrive("Ada")
    # Over plain HTTP, browsers do not grant access to devices.
    await ada.page.evaluate("Object.defineProperty(navigator, 'mediaDevices', { configurable: true })")
    await ada.join(camera=False)
    only = "only at https:// addresses. Ask the server operator for one."
    await expect(ada.page.locator(".notices")).to_contain_text(f"allow access to the microphone {only}")
    await expect(ada.page.locator("#screen")).to_have_accessible_description(f"Browsers share screens {only}")
    await expect(ada.page.locator("#mic")).to_have_text("Unmute")
    await ada.press("Leave")
    await ada.page.evaluate("delete navigator.mediaDevices")
    await ada.page.evaluate(CANNOT)
    await ada.press("Join call")
    await ada.is_connected()
    share = ada.page.get_by_role("button", name="Share screen", exact=True)
    reason = "This browser can’t share screens. Desktop browsers can."
    await expect(share).to_be_disabled()
    await expect(share).to_have_accessible_description(reason)
    await share.click(force=True)
    await expect(ada.page.locator(".notices")).to_contain_text(reason)
    await ada.press("More call options")
    apart = ada.page.get_by_role("menuitem", name="Open in a separate window")
    await expect(apart).to_be_disabled()
    await expect(apart).to_contain_text("This browser can’t keep a window on top of others.")
    await expect(ada.page.get_by_role("menuitem", name="Sharing options")).to_have_count(0)
    await apart.click(force=True)
    await expect(apart).to_be_visible()
    await ada.page.keyboard.press("Escape")
    await ada.page.locator("#people .person").hover()
    await expect(ada.page.get_by_role("button", name="Pin Ada (you)")).to_be_visible()
    await expect(ada.page.get_by_role("button", name="Show Ada (you) in full screen")).to_have_count(0)
    await ada.press("Settings")
    await ada.press("Voice and video")
    await expect(ada.page.get_by_text("This browser uses the speaker chosen in the system")).to_be_visible()
    await expect(ada.page.get_by_role("combobox", name="Speaker")).to_have_count(0)
    # iPhones in Lockdown Mode do not support WebRTC.
    await ada.page.keyboard.press("Escape")
    await ada.page.evaluate("delete window.RTCPeerConnection")
    await ada.press("Leave")
    await expect(ada.page.locator(".way-in .error")).to_contain_text("This browser can’t join calls.")
    await expect(ada.page.get_by_role("button", name="Join call")).to_have_count(0)


# Stores the page's WebSocket to /sfu/client, so that `PRETEND_EVENT` can simulate events from the service.
NOTE_SIGNALLING = """
window.WebSocket = class extends WebSocket {
  constructor(address, ...rest) {
    super(address, ...rest);
    if (String(address).includes("/sfu/")) window.signalling = this;
  }
};
"""
PRETEND_EVENT = """([event, data]) => {
  const frame = JSON.stringify({ event, data: JSON.stringify(data) });
  signalling.dispatchEvent(new MessageEvent("message", { data: frame }));
}"""
# Makes the page answer offers like a browser without a VP9 decoder.
CANNOT_DECODE = """
const { createAnswer } = RTCPeerConnection.prototype;
RTCPeerConnection.prototype.createAnswer = function (...options) {
  const { codecs } = RTCRtpReceiver.getCapabilities("video");
  const known = codecs.filter(({ mimeType }) => mimeType !== "video/VP9");
  const lines = this.getTransceivers().filter(({ receiver }) => receiver.track.kind === "video");
  for (const line of lines) line.setCodecPreferences(known);
  return createAnswer.apply(this, options);
};
"""


async def test_a_camera_is_sent_in_a_codec_that_everybody_can_decode(people: People) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace")
    await grace.page.add_init_script(CANNOT_DECODE)
    await grace.page.reload()
    await grace.join(camera=False)
    await ada.join()
    await grace.sees(ada)
    assert (await grace.statistics()).track("Ada").codec == "video/H264"


async def test_a_tile_shows_a_notice_if_its_video_cannot_be_decoded(people: People) -> None:
    ada, grace = await people.arrive("Ada", codec="VP9"), await people.arrive("Grace")
    await grace.page.add_init_script(CANNOT_DECODE)
    await grace.page.add_init_script(NOTE_SIGNALLING)
    await grace.page.reload()
    await ada.join()
    await grace.join(camera=False)
    tile = grace.page.locator("#people .person").filter(has_text="Ada")
    await expect(tile).to_contain_text("This browser can’t play this video.")
    await ada.press("Share screen")
    screen = grace.page.locator(".tile.screen").filter(has_text="Ada’s screen")
    await expect(screen).to_contain_text("This browser can’t play this video.")
    await grace.hears(ada)
    # Simulate a call so large that the service temporarily has no media section for Ada's microphone.
    body = {"track_id": (await grace.statistics()).track("Ada", "mic").track_id, "source": "mic"}
    body["user_id"] = await own_id(ada)
    await grace.page.evaluate(PRETEND_EVENT, ["track_unavailable", {**body, "reason": "no_line"}])
    too_many = "This call has too many voices. You’ll hear this one when another ends."
    await expect(tile).to_contain_text(too_many)
    await grace.page.evaluate(PRETEND_EVENT, ["track_available", body])
    await expect(tile).not_to_contain_text(too_many)
    await grace.hears(ada)
