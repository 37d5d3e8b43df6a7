"""The web client requests the layers that its tiles need, explains reduced layers, and can save data.

See docs/signalling.md, "A narrow downlink".
"""

import json
from typing import Any

from playwright.async_api import WebSocketRoute, expect

from tests.browser.calls.test_adaptation import ENCODINGS, SMALLEST
from tests.browser.test_accessibility import at_both_sizes, axe
from tests.kit.browser_users import Capture, People, Person
from tests.kit.wait import wait_until

__all__ = ["axe"]

CAPTURE = Capture(640, 360, 15)
AUTOMATIC = """() => {
  const settings = JSON.parse(localStorage["svc.callSettings"]);
  localStorage["svc.callSettings"] = JSON.stringify({ ...settings, quality: "automatic" });
}"""
# While `holdsVideo` is true, frames of new videos do not reach the decoder, as on a link that is too slow for
# the first keyframe.
HOLD_VIDEO = """
globalThis.held = [];
const known = new WeakSet();
globalThis.RTCPeerConnection = class extends RTCPeerConnection {
  constructor(settings) {
    super({ ...settings, encodedInsertableStreams: true });
    this.addEventListener("track", ({ receiver }) => {
      if (known.has(receiver)) return;
      known.add(receiver);
      const { readable, writable } = receiver.createEncodedStreams();
      const pass = () => readable.pipeTo(writable);
      if (globalThis.holdsVideo && receiver.track.kind === "video") held.push(pass);
      else pass();
    });
  }
};"""


class Signalling:
    """A page's signalling connection, which records the page's requests and simulates the events that a
    narrow downlink would cause.
    """

    def __init__(self) -> None:
        self.join: dict[str, Any] = {}
        self.requests: dict[str, dict[str, Any]] = {}
        self.socket: WebSocketRoute | None = None

    def connect(self, socket: WebSocketRoute) -> None:
        self.socket, server = socket, socket.connect_to_server()

        def from_page(message: str | bytes) -> None:
            envelope = json.loads(message)
            data = json.loads(envelope["data"])
            if envelope["event"] == "client_join":
                self.join = data
            elif envelope["event"] == "set_layer":
                self.requests[data["track_id"]] = data
            server.send(message)

        def from_server(message: str | bytes) -> None:
            if json.loads(message)["event"] not in ("layers", "bandwidth"):
                socket.send(message)

        socket.on_message(from_page)
        server.on_message(from_server)

    def send(self, event: str, data: object) -> None:
        assert self.socket is not None
        self.socket.send(json.dumps({"event": event, "data": json.dumps(data)}))

    def gets(self, track_id: str, **layers: object) -> None:
        """Simulate an event from the service that reports these layers of a track."""
        state = {"spatial": -1, "temporal": -1, "paused": False, "reason": "wish", **layers}
        self.send("layers", {"tracks": [{"track_id": track_id, "mid": "5", **state}]})

    async def expect(self, track_id: str, **fields: object) -> None:
        """Wait until the page's latest request for the track has these fields."""

        async def so() -> bool:
            request = self.requests.get(track_id, {})
            return {name: request.get(name) for name in fields} == fields

        await wait_until(f"a request contains {fields}", so, within_s=20)

    async def screen(self) -> str:
        """Wait for the page's request for a screen. Return the screen's track id."""

        def names() -> list[str]:
            return [track_id for track_id, request in self.requests.items() if request.get("priority") == 90]

        async def so() -> bool:
            return bool(names())

        await wait_until("the page requests a screen", so, within_s=20)
        return names()[0]


async def two_in_a_call(people: People, *, cameras: int) -> tuple[Person, Person, Signalling]:
    """Start a call with one or two cameras, with Grace's quality set to automatic. Return Ada, Grace and
    Grace's signalling.
    """
    ada, grace = [await people.arrive(name, capture=CAPTURE) for name in ("Ada", "Grace")]
    signalling = Signalling()
    await grace.page.route_web_socket("**/sfu/client**", signalling.connect)
    await grace.come_in()
    await grace.page.evaluate(AUTOMATIC)
    await grace.page.reload()
    for person in (ada, grace)[-cameras:]:  # Only people who watch a camera need a large window.
        await person.resize({"width": 1280, "height": 800})
    await ada.join()
    await grace.enter_call(camera=cameras > 1)
    await grace.sees(ada)
    return ada, grace, signalling


async def test_a_client_requests_video_by_priority_and_shows_the_effects_of_a_narrow_downlink(
    people: People, axe: str
) -> None:
    ada, grace, signalling = await two_in_a_call(people, cameras=1)
    assert (signalling.join["bandwidth"], signalling.join["simulcast"]) == (True, True)
    camera = (await grace.statistics()).track("Ada").track_id
    await signalling.expect(camera, adaptive=True, paused=False, max_temporal_layer=-1, max_spatial_layer=1)
    tile = grace.page.locator("#people li", has=grace.page.get_by_text("Ada", exact=True))
    await tile.hover()
    await grace.press("Pin Ada")
    await signalling.expect(camera, priority=70, max_spatial_layer=-1)
    await ada.press("Share screen")
    await grace.sees(ada, source="screen")
    screen = (await grace.statistics()).track("Ada", "screen").track_id
    await signalling.expect(screen, priority=90, max_spatial_layer=-1, adaptive=True)
    large = grace.page.locator("#screens li")
    await large.hover()
    await grace.press("Unpin Ada")

    signalling.send("bandwidth", {"estimate_bps": 412_000, "reason": "loss"})
    signalling.gets(camera, paused=True, reason="line")
    await expect(tile.get_by_text("Paused: your connection is slow")).to_be_visible()
    await expect(tile.locator(".avatar")).to_be_visible()
    await expect(grace.camera_of("Ada")).to_have_count(0)
    await grace.press("More call options")
    await grace.page.get_by_role("menuitem", name="Call quality").click()
    panel = grace.page.locator(".numbers")
    await expect(panel).to_contain_text("412 kbit/s, with packet loss")
    await expect(panel).to_contain_text("some are paused")
    await expect(grace.page.locator(".quality-person")).to_contain_text("paused · limited by your connection")
    await at_both_sizes(grace, axe, "the quality of a call on a narrow link")

    signalling.gets(camera, spatial=1, temporal=1, reason="line")
    await expect(grace.camera_of("Ada")).to_have_count(1)
    await expect(panel).to_contain_text("reduced for your connection")
    await tile.hover()
    await tile.get_by_role("button", name="Volume and quality of Ada").click()
    now = grace.page.locator(".picture-now", has_text="camera")
    await expect(now).to_contain_text("medium · every second frame · limited by your connection")
    dialog = grace.page.get_by_role("dialog")
    await expect(dialog).to_contain_text("Download bandwidth: 412 kbit/s, with packet loss")
    await at_both_sizes(grace, axe, "one person's video on a narrow link")


async def test_a_paused_screen_shows_its_last_frame_or_the_avatar_of_its_owner_and_the_reason(
    people: People, axe: str
) -> None:
    ada, grace, signalling = await two_in_a_call(people, cameras=1)
    await grace.page.add_init_script(HOLD_VIDEO)
    await grace.page.reload()
    await grace.sees(ada)
    await grace.page.evaluate("() => { holdsVideo = true; }")
    await ada.press("Share screen")
    screen = grace.page.locator("#screens li")
    reason = screen.get_by_text("Paused: your connection is slow")
    video = screen.locator("video")
    await expect(video).to_be_visible()
    track_id = await signalling.screen()
    signalling.gets(track_id, paused=True, reason="line")
    await expect(reason).to_be_visible()
    await expect(screen.locator(".avatar")).to_be_visible()
    await expect(video).to_be_hidden()
    await at_both_sizes(grace, axe, "a paused screen without a frame")
    await screen.hover()
    await screen.get_by_role("button", name="Volume and quality of").click()
    dialog = grace.page.get_by_role("dialog")
    await expect(dialog).to_contain_text("Receiving, screen: paused · limited by your connection")
    signalling.gets(track_id)
    await expect(dialog).to_contain_text("Receiving, screen: Loading…")
    await grace.page.keyboard.press("Escape")

    await grace.page.evaluate("() => held.forEach((pass) => pass())")
    await grace.sees(ada, source="screen")
    await expect(reason).to_have_count(0)
    await expect(video).to_have_css("opacity", "1")
    signalling.gets(track_id, paused=True, reason="line")
    await expect(reason).to_be_visible()
    await expect(screen.locator(".avatar")).to_have_count(0)
    await expect(video).to_be_visible()
    await expect(video).to_have_css("opacity", "0.5")
    await at_both_sizes(grace, axe, "a paused screen")


async def test_a_client_on_a_metered_connection_requests_and_sends_less(people: People) -> None:
    ada, grace, signalling = await two_in_a_call(people, cameras=2)
    camera = (await grace.statistics()).track("Ada").track_id
    await signalling.expect(camera, max_temporal_layer=-1)

    async def sends(*encodings: list[int]) -> None:
        async def so() -> bool:
            return list(await grace.page.evaluate(ENCODINGS)) == list(encodings)

        await wait_until(f"Grace sends {encodings}", so, within_s=20)

    await sends(SMALLEST, [450, 1])
    await grace.press("Settings")
    await grace.press("Voice and video")
    await grace.page.get_by_role("switch", name="Use less data").check()
    await signalling.expect(camera, max_temporal_layer=1, max_spatial_layer=0, width=320)
    await sends(SMALLEST)
    await grace.page.reload()
    await grace.is_connected()
    await sends(SMALLEST)
    await grace.hears(ada)
