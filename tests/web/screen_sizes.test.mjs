// Tests that a shared screen has the chosen size and frame rate.

import assert from "node:assert/strict";
import { test } from "node:test";

import { chosenSize, SCREEN_SIZES, screenConstraints } from "../../src/svc/web/call/encodings.js";
import { encodingsFor } from "../../src/svc/web/call/encodings.js";

test("a chosen size limits the height, the width of wide screens, and the frame rate", () => {
  assert.deepEqual(screenConstraints({ screen: "motion", screenSize: "1440p60" }), {
    height: { max: 1440 },
    width: { max: 3456 },
    frameRate: { max: 60 },
  });
});

test("the automatic size, and one that no longer exists, limit only the frame rate", () => {
  for (const screenSize of ["", "9000p240"]) {
    assert.deepEqual(screenConstraints({ screen: "text", screenSize }), { frameRate: 15 });
    assert.deepEqual(screenConstraints({ screen: "motion", screenSize }), { frameRate: 60 });
  }
});

test("a size with more pixels per second never has a lower bitrate", () => {
  const rates = SCREEN_SIZES.map(({ height, fps, bps }) => [height * height * fps, bps]);
  rates.sort(([a], [b]) => a - b);
  for (let index = 1; index < rates.length; index++)
    if (rates[index][0] > rates[index - 1][0] * 1.5) assert.ok(rates[index][1] >= rates[index - 1][1], index);
  assert.deepEqual(
    ["1440p60", "2160p15"].map((screenSize) => chosenSize({ screenSize })?.bps),
    [12e6, 12e6],
  );
});

test("the largest encoding has the bitrate for the chosen size, except on a metered connection", () => {
  const track = { contentHint: "motion", getSettings: () => ({ width: 2560 }) };
  const wanted = { width: 0, watched: true };
  const rate = (how) =>
    encodingsFor("screen", track, wanted, { people: 2, count: 3, ...how }).at(-1).maxBitrate;
  assert.equal(rate({ screenBps: 12e6 }), 12e6);
  assert.equal(rate({ screenBps: 12e6, sparing: true }), 1.5e6);
  assert.equal(rate({}), 8e6);
});
