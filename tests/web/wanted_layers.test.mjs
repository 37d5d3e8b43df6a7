// Tests that the requested video layers fit the tiles and the settings.

import assert from "node:assert/strict";
import { test } from "node:test";

import { wantedLayers } from "../../src/svc/web/call/wanted_layers.js";

const wanted = (shown, settings) =>
  wantedLayers(
    { source: "camera", width: 300, hidden: false, large: false, chosen: false, ...shown },
    { choice: "automatic", lessData: false, ...settings },
  );

test("a camera's size follows its tile, and a screen always has its full size", () => {
  const spatial = (shown) => wanted(shown).max_spatial_layer;
  assert.deepEqual(
    [0, 100, 320, 321, 640, 641].map((width) => spatial({ width })),
    [-1, 0, 0, 1, 1, -1],
  );
  assert.equal(spatial({ source: "screen", width: 100 }), -1);
});

test("screens have the highest priority, then speakers and pinned people, then large tiles", () => {
  const shown = [{ source: "screen" }, { chosen: true }, { large: true }, {}];
  assert.deepEqual(
    shown.map((tile) => wanted(tile).priority),
    [90, 70, 50, 30],
  );
});

test("a chosen quality limits the frame rate, and only high quality is never lowered automatically", () => {
  const choices = ["automatic", "high", "low", "saver"].map((choice) => wanted({}, { choice }));
  assert.deepEqual(
    choices.map((choice) => [choice.max_temporal_layer, choice.adaptive]),
    [
      [-1, true],
      [-1, false],
      [1, true],
      [0, true],
    ],
  );
});

test("a hidden video is paused", () => {
  assert.equal(wanted({ hidden: true }).paused, true);
  assert.equal(wanted({}).paused, false);
});

test("on a metered connection, video has fewer and smaller frames, and a screen keeps its size", () => {
  const sparing = (shown, choice = "automatic") => {
    const { max_temporal_layer, max_spatial_layer, width } = wanted(shown, { lessData: true, choice });
    return [max_temporal_layer, max_spatial_layer, width];
  };
  assert.deepEqual(sparing({ width: 1000 }), [1, 0, 320]);
  assert.deepEqual(sparing({ width: 0 }), [1, 0, 320]);
  assert.deepEqual(sparing({ width: 1000, large: true }), [1, 1, 640]);
  assert.deepEqual(sparing({ width: 100 }, "saver"), [0, 0, 100]);
  assert.deepEqual(sparing({ width: 1000, source: "screen" }), [0, -1, 1000]);
});
