// Tests which audio and video tracks the client requests.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Watching } from "../../src/svc/web/call/video_selection.js";

const of = (userId, ...sources) => sources.map((source) => ({ userId, source }));
const wanted = (watching, ...offered) =>
  watching.wanted(offered.flat()).map(({ userId, source }) => `${userId} ${source}`);

test("audio, cameras and the first screen with its audio are requested", () => {
  const watching = new Watching();
  assert.deepEqual(wanted(watching, of("ada", "mic", "camera", "screen", "screen_audio")), [
    "ada mic",
    "ada camera",
    "ada screen",
    "ada screen_audio",
  ]);
  assert.deepEqual(watching.screens.value, ["ada"]);
});

test("a second screen is received only once it is chosen, and the first can be declined", () => {
  const watching = new Watching();
  const both = [...of("ada", "screen"), ...of("bob", "screen", "screen_audio")];
  assert.deepEqual(wanted(watching, of("ada", "screen")), ["ada screen"]);
  assert.deepEqual(wanted(watching, both), ["ada screen"]);
  watching.choose("bob", true);
  assert.deepEqual(wanted(watching, both), ["ada screen", "bob screen", "bob screen_audio"]);
  watching.choose("ada", false);
  assert.deepEqual(wanted(watching, both), ["bob screen", "bob screen_audio"]);
});

test("a declined screen stays off until it is shared again", () => {
  const watching = new Watching();
  wanted(watching, of("ada", "screen"));
  watching.choose("ada", false);
  assert.deepEqual(wanted(watching, of("ada", "screen", "mic")), ["ada mic"]);
  assert.deepEqual(wanted(watching, of("ada", "mic")), ["ada mic"]);
  assert.deepEqual(wanted(watching, of("ada", "mic", "screen")), ["ada mic", "ada screen"]);
});

test("in audio-only mode, only a chosen screen is requested", () => {
  const watching = new Watching();
  const all = [...of("ada", "mic", "camera", "screen"), ...of("bob", "mic", "camera")];
  wanted(watching, all);
  watching.chooseOnlySound(true);
  assert.deepEqual(wanted(watching, all), ["ada mic", "bob mic"]);
  watching.choose("ada", true);
  assert.deepEqual(wanted(watching, all), ["ada mic", "ada screen", "bob mic"]);
  watching.chooseOnlySound(false);
  assert.deepEqual(wanted(watching, all).length, all.length);
});
