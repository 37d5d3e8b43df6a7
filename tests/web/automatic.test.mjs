// How many layers of others' video are asked for, by what is measured second by second.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Automatic, layerFor } from "../../src/svc/web/call/automatic.js";

const WELL = { received: [{ concealed: 0, lost: 0.01 }, { concealed: 0, lost: 0 }] };
const BAD = { received: [{ concealed: 0.015, lost: 0.05 }] };
const AWFUL = { received: [{ concealed: 0.2, lost: 0.4 }] };
const seconds = (automatic, reading, count) => Array.from({ length: count }, () => automatic.hear(reading)).at(-1);

test("all layers are asked for while all is well", () => {
  assert.equal(seconds(new Automatic(), WELL, 100), 2);
});

test("sound that has to be concealed costs a layer, and again where that did not help", () => {
  const automatic = new Automatic();
  assert.equal(automatic.hear(BAD), 1);
  assert.equal(automatic.hear(BAD), 1, "what was asked for takes a moment to be felt");
  assert.equal(automatic.hear(BAD), 0);
  assert.equal(seconds(automatic, BAD, 20), 0);
});

test("where much is lost or concealed the least is asked for at once", () => {
  assert.equal(new Automatic().hear(AWFUL), 0);
  assert.equal(new Automatic().hear({ received: [{ concealed: 0.04, lost: 0 }] }), 0);
});

test("after a while without trouble more is tried, a layer at a time", () => {
  const automatic = new Automatic();
  automatic.hear(AWFUL);
  assert.equal(seconds(automatic, WELL, 3), 0);
  assert.equal(seconds(automatic, WELL, 1), 1);
  assert.equal(seconds(automatic, WELL, 3), 1);
  assert.equal(seconds(automatic, WELL, 1), 2);
});

test("what was tried too early is tried later the next time, and within ten seconds", () => {
  const automatic = new Automatic();
  automatic.hear(AWFUL);
  const tries = [];
  for (let second = 0, since = 0; tries.length < 6; second++) {
    const before = automatic.layer;
    const after = automatic.hear(before === 0 ? WELL : AWFUL);
    if (after > before) {
      tries.push(since);
      since = 0;
    } else if (before === 0) since += 1;
  }
  assert.ok(tries.every((waited, index) => index === 0 || waited >= tries[index - 1]), tries);
  assert.ok(tries.at(-1) > tries[0] && tries.at(-1) <= 10, tries);
});

test("nothing is tried while nothing comes", () => {
  const automatic = new Automatic();
  automatic.hear(AWFUL);
  assert.equal(seconds(automatic, { received: [] }, 60), 0);
});

test("what a person chooses holds, whatever is measured", () => {
  assert.deepEqual(["high", "low", "saver"].map((choice) => layerFor(choice, 0)), [-1, 1, 0]);
  assert.deepEqual([0, 1, 2].map((layer) => layerFor("automatic", layer)), [0, 1, -1]);
});

test("pictures that keep freezing cost a layer, but not those of one sender among many, nor a screen", () => {
  const camera = (freezes) => ({ source: "camera", concealed: 0, lost: 0, freezes });
  const frozen = { received: [camera(1), camera(2), camera(0)] };
  const automatic = new Automatic();
  assert.equal(automatic.hear(frozen), 2, "a single one may pass");
  assert.equal(automatic.hear(frozen), 1);
  assert.equal(seconds(new Automatic(), { received: [camera(1), camera(0)] }, 20), 2);
  assert.equal(seconds(new Automatic(), { received: [camera(1)] }, 20), 0);
  assert.equal(seconds(new Automatic(), { received: [{ ...camera(1), source: "screen" }] }, 20), 2);
});

test("a small tile needs no more than every second picture, unless the person has chosen", () => {
  assert.equal(layerFor("", 2, 150), 1);
  assert.equal(layerFor("", 0, 150), 0);
  assert.equal(layerFor("", 2, 300), -1);
  assert.equal(layerFor("high", 2, 150), -1);
});

test("what is tried is given up before anything is lost, when it makes the sound wait less and less", () => {
  const voice = (waitMs) => ({ received: [{ source: "mic", concealed: 0, lost: 0, freezes: 0, waitMs }] });
  const automatic = new Automatic();
  automatic.hear(AWFUL);
  assert.equal(seconds(automatic, voice(700), 4), 1);
  assert.equal(automatic.hear(voice(650)), 1);
  assert.equal(automatic.hear(voice(500)), 0);
  assert.equal(automatic.hear(voice(300)), 0);
  assert.equal(seconds(automatic, voice(300), 6), 1, "and it is tried again");
  assert.equal(seconds(automatic, voice(290), 4), 2);
});
