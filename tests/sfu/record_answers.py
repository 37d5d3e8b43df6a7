"""Records how Chromium and aiortc answer the offers in `sdp_exchange`, for the tests.

Run `python -m tests.sfu.record_answers` after changing an offer. The program fails if a peer rejects an
offer. No test runs it, because the answers are stored in `tests/data/sdp`.
"""

import asyncio
from collections.abc import Iterator

from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, VideoStreamTrack
from playwright.sync_api import sync_playwright

from tests.sfu.sdp_exchange import ANSWERS, CALL, offer

_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    "--allow-loopback-in-peer-connection",
)

_ANSWER = """async ([sdp, publish]) => {
  window.pc ??= new RTCPeerConnection()
  await pc.setRemoteDescription({type: 'offer', sdp})
  if (publish) {
    const stream = await navigator.mediaDevices.getUserMedia({audio: true, video: true})
    for (const track of stream.getTracks()) {
      const mid = track.kind === 'audio' ? '0' : '1'
      const transceiver = pc.getTransceivers().find(one => one.mid === mid)
      transceiver.direction = 'sendonly'
      await transceiver.sender.replaceTrack(track)
    }
  }
  await pc.setLocalDescription()
  return pc.localDescription.sdp
}"""


def chromium() -> Iterator[tuple[str, str]]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=_FLAGS)
        page = browser.new_page()
        page.route("**/*", lambda route: route.fulfill(body="<p>", content_type="text/html"))
        page.goto("http://localhost/")
        for step in CALL:
            yield step, page.evaluate(_ANSWER, [offer(step), step == "publishing"])
        browser.close()


async def aiortc() -> list[tuple[str, str]]:
    answers: list[tuple[str, str]] = []
    peer = RTCPeerConnection()
    for step in CALL:
        await peer.setRemoteDescription(RTCSessionDescription(offer(step), "offer"))
        if step == "publishing":
            microphone, camera = peer.getTransceivers()[:2]
            microphone.sender.replaceTrack(AudioStreamTrack())
            camera.sender.replaceTrack(VideoStreamTrack())
            microphone.direction = camera.direction = "sendonly"
        await peer.setLocalDescription(await peer.createAnswer())
        answers.append((step, peer.localDescription.sdp))
    await peer.close()
    return answers


def main() -> None:
    for peer, answers in (("chromium", chromium()), ("aiortc", asyncio.run(aiortc()))):
        for step, sdp in answers:
            (ANSWERS / f"{peer}-{step}.sdp").write_bytes(sdp.encode())


if __name__ == "__main__":
    main()
