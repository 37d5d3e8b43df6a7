// How our camera and screen are encoded, by what the others show of them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ALL_WANTED, encodingFor, oneOfSeveral, suffices } from "../../src/svc/web/call/encodings.js";

const track = (width, contentHint = "") => ({ contentHint, getSettings: () => ({ width }) });
const camera = (wanted, { width = 1280, people = 2 } = {}) =>
  encodingFor("camera", track(width), { ...ALL_WANTED, ...wanted }, people);

test("a camera is sent at the size and rate that its widest tile needs", () => {
  const encodings = [200, 320, 321, 640, 641, 3000, 0].map((width) => camera({ width }));
  assert.deepEqual(
    encodings.map(({ maxBitrate }) => maxBitrate / 1000),
    [150, 150, 450, 450, 1200, 1200, 1200],
  );
  assert.deepEqual(
    encodings.map(({ scaleResolutionDownBy }) => scaleResolutionDownBy),
    [4, 4, 2, 2, 1, 1, 1],
  );
});

test("a small camera is never scaled up", () => {
  assert.equal(camera({ width: 600 }, { width: 480 }).scaleResolutionDownBy, 1);
  assert.equal(camera({ width: 200 }, { width: 480 }).scaleResolutionDownBy, 1.5);
});

test("with many large tiles each gets less", () => {
  assert.deepEqual(
    [2, 4, 5, 9, 10, 25].map((people) => camera({ width: 0 }, { people }).maxBitrate / 1000),
    [1200, 1200, 900, 900, 700, 700],
  );
});

test("a screen keeps its size and rate, however small its tile", () => {
  const [text, motion] = ["text", "motion"].map((hint) =>
    encodingFor("screen", track(1920, hint), { width: 100, watched: true }, 30),
  );
  assert.deepEqual(
    [text, motion].map(({ maxBitrate, scaleResolutionDownBy, scalabilityMode }) => [
      maxBitrate,
      scaleResolutionDownBy,
      scalabilityMode,
    ]),
    [
      [4_000_000, 1, "L1T2"],
      [8_000_000, 1, "L1T3"],
    ],
  );
});

test("video that nobody watches is not encoded", () => {
  assert.equal(camera({ watched: false }).active, false);
  assert.equal(encodingFor("screen", track(1920, "text"), { width: 0, watched: false }, 2).active, false);
  assert.equal(camera({}).active, true);
});

const several = (encoding, width) => ["q", "h", "f"].map((rid) => oneOfSeveral(encoding, rid, width));

test("each of three encodings has half the width of the next, and a lower rate", () => {
  const encodings = several(camera({}), 1280);
  assert.deepEqual(
    encodings.map(({ scaleResolutionDownBy, maxBitrate }) => [scaleResolutionDownBy, maxBitrate / 1000]),
    [
      [4, 150],
      [2, 450],
      [1, 1200],
    ],
  );
  assert.ok(encodings.every(({ active, scalabilityMode }) => active && scalabilityMode === "L1T3"));
});

test("a small source is sent in fewer encodings, and an unwatched one in none", () => {
  const sent = (encoding, width) =>
    several(encoding, width)
      .filter(({ active }) => active)
      .map(({ scaleResolutionDownBy }) => scaleResolutionDownBy);
  assert.deepEqual(
    [1280, 960, 640, 480, 320].map((width) => sent(camera({}), width)),
    [[4, 2, 1], [4, 2, 1], [2, 1], [2, 1], [1]],
  );
  assert.deepEqual(sent(camera({ width: 320 }), 1280), [8, 4]);
  assert.deepEqual(sent(camera({ watched: false }), 1280), []);
});

test("a single encoding has no name and is sent unscaled", () => {
  assert.equal(oneOfSeveral(camera({}), undefined, 1280).maxBitrate, 1_200_000);
  assert.deepEqual(oneOfSeveral({}, "q", 1280), {});
});

test("increases are applied at once, and decreases later", () => {
  const [off, small, large, unknown] = [
    { width: 0, watched: false },
    { width: 320, watched: true },
    { width: 640, watched: true },
    ALL_WANTED,
  ];
  for (const [less, more] of [
    [off, small],
    [small, large],
    [large, unknown],
    [off, unknown],
  ]) {
    assert.ok(suffices(more, less));
    assert.ok(!suffices(less, more));
  }
});
