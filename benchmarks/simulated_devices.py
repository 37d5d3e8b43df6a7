"""Simulates a camera whose frames are expensive to encode, and a microphone that records speech without
pauses.

Both replace the browser's simulated devices. Random numbers come from a generator with a fixed seed, so that
all systems under test get the same frames.
"""

import json
from dataclasses import dataclass

from tests.kit.browser_users import Capture

DEVICES_SCRIPT = """
const { width, height, frameRate } = %s;
if (/^https?:/.test(location.protocol) && self.origin !== "null")
  localStorage["svc.callSettings"] ??= JSON.stringify({ quality: "automatic" });
const texture = () => {
  let state = 1;
  const random = () => (state = (state * 48271) %% 2147483647) / 2147483647;
  const noise = new OffscreenCanvas(width / 4, height / 4);
  const pixels = noise.getContext("2d").createImageData(width / 4, height / 4);
  for (let at = 0; at < pixels.data.length; at += 4)
    pixels.data.set([random() * 256, random() * 256, random() * 256, 255], at);
  noise.getContext("2d").putImageData(pixels, 0, 0);
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const drawing = canvas.getContext("2d");
  let frame = 0;
  const draw = () => {
    const [x, y] = [(frame * 7) %% width, (frame * 3) %% height];
    for (const left of [x - width, x])
      for (const top of [y - height, y]) drawing.drawImage(noise, left, top, width, height);
    drawing.fillRect((frame * 5) %% width, height / 3, width / 5, height / 3);
    frame += 1;
  };
  draw();
  setInterval(draw, 1000 / frameRate);
  return canvas.captureStream(frameRate).getVideoTracks()[0];
};
const voice = () => {
  const context = new AudioContext();
  const target = context.createMediaStreamDestination();
  const [tone, change] = [context.createOscillator(), context.createOscillator()];
  const depth = context.createGain();
  const level = context.createGain();
  Object.assign(tone, { type: "sawtooth" }).frequency.value = 140;
  [change.frequency.value, depth.gain.value, level.gain.value] = [4, 0.1, 0.3];
  change.connect(depth).connect(level.gain);
  tone.connect(level).connect(target);
  tone.start();
  change.start();
  return target.stream.getAudioTracks()[0];
};
if (navigator.mediaDevices)
  navigator.mediaDevices.getUserMedia = async ({ audio, video }) =>
    new MediaStream([...(audio ? [voice()] : []), ...(video ? [texture()] : [])]);
"""


@dataclass(frozen=True, slots=True)
class NoisyCapture(Capture):
    """A capture with frames that are expensive to encode, in place of the browser's simulated camera."""

    def script(self, camera: int = 0) -> str:
        size = {"width": self.width, "height": self.height, "frameRate": self.frame_rate}
        return DEVICES_SCRIPT % json.dumps(size)


NOISY_CAPTURE = NoisyCapture(480, 270, 12)
