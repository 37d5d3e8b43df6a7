// The layers requested of each video, by measurements taken every second.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Automatic, layerFor, PAUSED } from "../../src/svc/web/call/automatic.js";

const NAMES = ["large", "middle", "small"]; // The most important first.
/** A second of a call, as the statistics tell it: each video has so many kbit/s at its full rate. */
function second(
  automatic,
  { line = Infinity, lost = 0, full = 400, queueMs, freezes = 0 } = {},
  names = NAMES,
) {
  const share = { [PAUSED]: 0, 0: 0.5, 1: 0.75, 2: 1 };
  const offered = names.map((trackId) => full * share[automatic.of(trackId)]);
  const sum = offered.reduce((a, b) => a + b, 0) + 40;
  const fits = Math.min(1, line / sum);
  const received = names.map((trackId, index) => ({
    trackId,
    source: "camera",
    kbps: offered[index] * fits,
    lost,
    concealed: 0,
    freezes,
  }));
  received.push({ trackId: "voice", source: "mic", kbps: 40 * fits, lost, concealed: 0, freezes: 0 });
  automatic.hear({ received, queueMs: queueMs ?? (sum > line ? 300 : 0) }, names);
  return names.map((trackId) => automatic.of(trackId));
}
const seconds = (automatic, count, how, names) =>
  Array.from({ length: count }, () => second(automatic, how, names)).at(-1);
const ALL = [2, 2, 2];

test("everything is requested while the line is good", () => {
  assert.deepEqual(seconds(new Automatic(), 100), ALL);
});

test("a queue lowers the least important video first, by the missing capacity", () => {
  const automatic = new Automatic();
  seconds(automatic, 3);
  assert.deepEqual(second(automatic, { line: 1100 }), [2, 0, 0]);
  assert.deepEqual(second(automatic, { line: 1100 }), [2, 0, 0], "and that is enough");
});

test("videos pause one by one when their lowest layers are too much, the most important one last", () => {
  const automatic = new Automatic();
  seconds(automatic, 3);
  assert.deepEqual(second(automatic, { line: 500 }), [0, PAUSED, PAUSED]);
  assert.deepEqual(seconds(new Automatic(), 12, { line: 60 }), [PAUSED, PAUSED, PAUSED]);
});

test("a draining queue shows that enough was lowered", () => {
  const automatic = new Automatic();
  seconds(automatic, 3);
  const lowered = second(automatic, { line: 1100 });
  assert.deepEqual(
    [400, 300, 200, 100].map((queueMs) => String(second(automatic, { queueMs }))).at(-1),
    String(lowered),
  );
});

test("one second with a short queue may be a busy machine", () => {
  const automatic = new Automatic();
  assert.deepEqual(second(automatic, { queueMs: 120 }), ALL);
  assert.deepEqual(second(automatic, { queueMs: 0 }), ALL);
  assert.notDeepEqual(seconds(automatic, 2, { queueMs: 120 }), ALL);
});

test("videos return if the queue is not due to them", () => {
  const automatic = new Automatic();
  const highest = [];
  for (let now = 0; now < 90; now++) highest.push(Math.max(...second(automatic, { queueMs: 150 })));
  assert.ok(highest.includes(PAUSED), "it was tried whether that helps");
  assert.equal(highest.at(-1), 2);
});

test("loss without delay lowers nothing, unless the line drops most packets instead of queueing them", () => {
  assert.deepEqual(seconds(new Automatic(), 30, { lost: 0.15, queueMs: 10 }), ALL);
  assert.notDeepEqual(seconds(new Automatic(), 3, { lost: 0.5, queueMs: 10 }), ALL);
});

test("if the delay is unknown, lost and concealed audio count", () => {
  const automatic = new Automatic();
  const received = [
    { trackId: "large", source: "camera", kbps: 400, lost: 0, concealed: 0, freezes: 0 },
    { trackId: "voice", source: "mic", kbps: 40, lost: 0.02, concealed: 0.04 },
  ];
  automatic.hear({ received, queueMs: null }, ["large"]);
  assert.equal(automatic.of("large"), 1);
});

test("when the line grows everything returns soon, the most important video first", () => {
  const automatic = new Automatic();
  seconds(automatic, 40, { line: 300 });
  const steps = Array.from({ length: 16 }, () => second(automatic, { line: 8000 }));
  const back = steps.findIndex((levels) => String(levels) === String(ALL));
  assert.ok(back >= 0 && back < 13, String(steps));
  for (const [large, middle, small] of steps) assert.ok(large >= middle && middle >= small);

  const atOnce = new Automatic();
  seconds(atOnce, 3);
  second(atOnce, { line: 300 });
  assert.deepEqual(seconds(atOnce, 13, { line: 8000 }), ALL);
});

test("a harmful trial is undone at once, and a rate that the line never carried is tried rarely", () => {
  const automatic = new Automatic();
  seconds(automatic, 3);
  const tries = [];
  let before = second(automatic, { line: 900 });
  for (let now = 0; now < 120; now++) {
    const levels = second(automatic, { line: 900 });
    if (levels.some((level, index) => level > before[index])) tries.push(now);
    before = levels;
  }
  const pauses = tries.slice(1).map((at, index) => at - tries[index]);
  assert.ok(Math.min(...pauses.slice(-8)) >= 8, `${pauses}`);
});

test("nothing is tried while nothing arrives or a little is queued", () => {
  const automatic = new Automatic();
  seconds(automatic, 3);
  const lowered = second(automatic, { line: 1100 });
  for (let now = 0; now < 60; now++) automatic.hear({ received: [], queueMs: null }, NAMES);
  assert.deepEqual(
    NAMES.map((name) => automatic.of(name)),
    lowered,
  );
  assert.deepEqual(seconds(automatic, 60, { queueMs: 60 }), lowered);
});

test("a paused video that becomes more important replaces the least important one", () => {
  const automatic = new Automatic();
  seconds(automatic, 3);
  second(automatic, { line: 500 });
  seconds(automatic, 3, { queueMs: 0 });
  const speaks = ["small", "large", "middle"];
  automatic.hear(
    {
      received: [{ trackId: "large", source: "camera", kbps: 200, lost: 0, concealed: 0, freezes: 0 }],
      queueMs: 0,
    },
    speaks,
  );
  assert.ok(automatic.of("small") > PAUSED);
});

test("a video that starts while others are lowered starts as low", () => {
  const automatic = new Automatic();
  seconds(automatic, 3);
  second(automatic, { line: 500 });
  assert.equal(second(automatic, { line: 500 }, [...NAMES, "new"]).at(-1), PAUSED);
});

test("repeated freezes without loss cost a layer, except of one sender among many or of a screen", () => {
  assert.notDeepEqual(seconds(new Automatic(), 2, { freezes: 1 }), ALL);
  assert.deepEqual(second(new Automatic(), { freezes: 1 }), ALL, "a single one may pass");
  assert.deepEqual(seconds(new Automatic(), 20, { freezes: 1, lost: 0.05 }), ALL);
  const screen = { trackId: "screen", source: "screen", kbps: 400, lost: 0, concealed: 0, freezes: 1 };
  const automatic = new Automatic();
  for (let now = 0; now < 20; now++)
    automatic.hear(
      {
        received: [
          screen,
          { ...screen, source: "camera", trackId: "a" },
          { ...screen, source: "camera", trackId: "b", freezes: 0 },
        ],
        queueMs: 0,
      },
      ["screen", "a", "b"],
    );
  assert.equal(automatic.lowest, 2);
});

test("a person's choice holds, whatever is measured", () => {
  assert.deepEqual(
    ["high", "low", "saver"].map((choice) => layerFor(choice, PAUSED)),
    [-1, 1, 0].map((layer) => ({ layer, paused: false })),
  );
  assert.deepEqual(
    [PAUSED, 0, 1, 2].map((level) => layerFor("automatic", level)),
    [
      { layer: 0, paused: true },
      { layer: 0, paused: false },
      { layer: 1, paused: false },
      { layer: -1, paused: false },
    ],
  );
});
