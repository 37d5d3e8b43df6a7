// Tests that audio with gaps gets a longer jitter buffer, which shrinks once the gaps end.

import assert from "node:assert/strict";
import { test } from "node:test";

import { VoiceBuffer } from "../../src/svc/web/call/jitter_buffers.js";

/** Update the buffer with each of these fractions of concealed audio. Return its delay after each update. */
function waits(shares, buffer = new VoiceBuffer()) {
  return shares.map((share) => {
    buffer.update(share);
    return buffer.waitMs;
  });
}

const whole = (seconds) => Array.from({ length: seconds }, () => 0);

test("a single gap has no effect, and two gaps in a short time lengthen the buffer", () => {
  assert.deepEqual(waits([0.02, ...whole(11), 0.02]), whole(13));
  assert.deepEqual(waits([0.02, 0, 0.02]), [0, 0, 80]);
});

test("while gaps continue, the buffer grows up to a limit", () => {
  const steady = waits(Array.from({ length: 12 }, () => 0.02));
  assert.deepEqual(steady, [0, 80, 80, 160, 160, 240, 240, 240, 240, 240, 240, 240]);
});

test("after a minute without a gap a shorter buffer is tried, and gaps bring the longer one back", () => {
  const buffer = new VoiceBuffer();
  waits([0.02, 0.02, 0.02, 0.02], buffer);
  assert.equal(waits(whole(59), buffer).at(-1), 160);
  assert.equal(waits(whole(1), buffer).at(-1), 80);
  assert.equal(waits([0.02, 0.02], buffer).at(-1), 160);
});
