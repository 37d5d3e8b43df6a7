// Tests that audio is sent while the push-to-talk key is held, and for a moment afterwards.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Microphone } from "../../src/svc/web/call/microphone.js";

const PUSH = { input: "push", threshold: 0, releaseMs: 250, noise: "usual", music: false };
const device = () => ({
  enabled: true,
  stop() {
    this.stopped = true;
  },
});

test("with push-to-talk, audio is sent while the key is held and shortly afterwards", async (context) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  context.after(() => mock.timers.reset());
  const raw = device();
  const microphone = await Microphone.of(raw, PUSH);
  assert.equal(raw.enabled, false);
  microphone.press(true);
  assert.equal(raw.enabled, true);
  microphone.press(false);
  mock.timers.tick(249);
  assert.equal(raw.enabled, true, "the end of a word");
  microphone.press(true);
  mock.timers.tick(1000);
  assert.equal(raw.enabled, true, "who presses again in time is not cut off");
  microphone.press(false);
  mock.timers.tick(250);
  assert.equal(raw.enabled, false);
});

test("a muted microphone stays silent, even while the key is held", async () => {
  const raw = device();
  const microphone = await Microphone.of(raw, PUSH);
  microphone.muted = true;
  microphone.press(true);
  assert.equal(raw.enabled, false);
  microphone.muted = false;
  assert.equal(raw.enabled, true);
  microphone.close();
  assert.equal(raw.stopped, true);
});
