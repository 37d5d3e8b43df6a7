// Tests that camera and screen are encoded for the sizes at which other participants show them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ALL_WANTED, encodingsFor, isSufficient } from "../../src/svc/web/call/encodings.js";

const track = (width, contentHint = "") => ({ contentHint, getSettings: () => ({ width }) });
const encodings = (source, wanted, { width = 1280, hint = "text", people = 2, count = 3, sparing } = {}) =>
  encodingsFor(source, track(width, hint), { ...ALL_WANTED, ...wanted }, { people, count, sparing });
const camera = (wanted, how) => encodings("camera", wanted, { ...how, count: 1 })[0];
const kbps = (list) => list.map(({ maxBitrate }) => maxBitrate / 1000);
// Returns the encodings that are sent, out of "q", "h" and "f".
const sent = (list) => list.map(({ active }, index) => (active ? "qhf"[index] : "")).join("");

test("a camera in one encoding is sent at the size and bitrate that its widest tile needs", () => {
  const all = [200, 320, 321, 640, 641, 3000, 0].map((width) => camera({ width }));
  assert.deepEqual(kbps(all), [150, 150, 450, 450, 1200, 1200, 1200]);
  assert.deepEqual(
    all.map(({ scaleResolutionDownBy }) => scaleResolutionDownBy),
    [4, 4, 2, 2, 1, 1, 1],
  );
});

test("a small camera is never scaled up", () => {
  assert.equal(camera({ width: 600 }, { width: 480 }).scaleResolutionDownBy, 1);
  assert.equal(camera({ width: 200 }, { width: 480 }).scaleResolutionDownBy, 1.5);
});

test("the more people share a call, the lower the bitrate of each large tile", () => {
  const rates = [2, 4, 5, 9, 10, 25].map((people) => camera({ width: 0 }, { people }));
  assert.deepEqual(kbps(rates), [1200, 1200, 900, 900, 700, 700]);
});

test("a screen in one encoding keeps its size and bitrate, no matter how small it is shown", () => {
  const [text, motion] = ["text", "motion"].map(
    (hint) => encodings("screen", { width: 100 }, { hint, count: 1 })[0],
  );
  assert.deepEqual(
    [text, motion].map((encoding) => [
      encoding.maxBitrate,
      encoding.scaleResolutionDownBy,
      encoding.scalabilityMode,
    ]),
    [
      [4_000_000, 1, "L1T2"],
      [8_000_000, 1, "L1T3"],
    ],
  );
});

test("each of three encodings has half the width of the next, and the bitrate for such a width", () => {
  const all = encodings("camera", {});
  assert.deepEqual(kbps(all), [150, 450, 1200]);
  assert.deepEqual(
    all.map(({ scaleResolutionDownBy, scalabilityMode }) => [scaleResolutionDownBy, scalabilityMode]),
    [4, 2, 1].map((scale) => [scale, "L1T3"]),
  );
});

test("no encoding is larger than the widest tile needs, and the others keep their size", () => {
  const bySize = [200, 320, 321, 640, 641, 0].map((width) => encodings("camera", { width }));
  assert.deepEqual(bySize.map(sent), ["q", "q", "qh", "qh", "qhf", "qhf"]);
  for (const all of bySize) assert.equal(all[0].scaleResolutionDownBy, 4);
});

test("a small camera is sent in fewer encodings, and the last one has its full size", () => {
  const bySize = [1280, 960, 640, 480, 320, 100].map((width) => encodings("camera", {}, { width }));
  assert.deepEqual(bySize.map(sent), ["qhf", "qhf", "qh", "qh", "q", "q"]);
  assert.deepEqual(
    bySize.map(([q]) => q.scaleResolutionDownBy),
    [4, 4, 2, 2, 1, 1],
  );
});

test("unneeded encodings are not sent, and the nearest encoding replaces one that cannot be sent", () => {
  const needing = (...encodings) => ({ encodings });
  assert.equal(sent(encodings("camera", needing(true, false, false))), "q");
  assert.equal(sent(encodings("camera", needing(true, false, true))), "qf");
  assert.equal(sent(encodings("camera", needing(false, false, true), { width: 640 })), "h");
  assert.equal(sent(encodings("camera", needing(false, false, true), { width: 320 })), "q");
  assert.equal(sent(encodings("camera", { width: 300, ...needing(false, false, true) })), "q");
  assert.equal(sent(encodings("camera", needing(false, false, false))), "");
  assert.equal(sent(encodings("camera", { watched: false, ...needing(true, true, true) })), "");
});

test("text is sent only at full size, and motion at the sizes that are needed", () => {
  const wanted = { width: 100, encodings: [true, false, true] };
  assert.equal(sent(encodings("screen", wanted)), "f");
  assert.equal(sent(encodings("screen", wanted, { width: 800 })), "h");
  assert.equal(sent(encodings("screen", wanted, { hint: "motion" })), "qf");
  assert.deepEqual(kbps(encodings("screen", wanted)), [500, 1500, 4000]);
});

test("video that nobody watches is not encoded", () => {
  for (const source of ["camera", "screen"]) {
    for (const count of [1, 3]) {
      assert.equal(sent(encodings(source, { watched: false }, { count })), "");
      assert.notEqual(sent(encodings(source, {}, { count })), "");
    }
  }
});

test("on a metered connection, a camera is sent at a small size, and a screen at a lower bitrate", () => {
  const sparing = true;
  assert.deepEqual(kbps([camera({ width: 1000 }, { sparing })]), [150]);
  assert.equal(sent(encodings("camera", { width: 1000 }, { sparing })), "q");
  assert.deepEqual(kbps(encodings("screen", {}, { sparing, count: 1 })), [1000]);
  assert.equal(encodings("screen", {}, { sparing, count: 1 })[0].scaleResolutionDownBy, 1);
});

test("an earlier request covers a later one unless the later one asks for more", () => {
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
    assert.ok(isSufficient(more, less));
    assert.ok(isSufficient(less, less));
    assert.ok(!isSufficient(less, more));
  }
});
