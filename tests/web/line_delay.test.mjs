// How long packets wait on their way to us, by when they are played and how long they were held before that.

import assert from "node:assert/strict";
import { test } from "node:test";

import { LineDelay } from "../../src/svc/web/call/line_delay.js";

const START = 2 ** 32 - 48 * 5000; // The timestamp wraps around after five seconds.

/** * Voices for some seconds: `{name: {waits, held}}`, what its packets wait on the way and then in the
browser. * The last that is told. */
function told(delay, from, to, voices) {
  let last;
  for (let second = from; second < to; second++) {
    for (let at = second; at < second + 1; at += 0.2) {
      for (const [name, { waits = 0, held = 60 }] of Object.entries(voices))
        delay.note(
          name,
          1e12 + at * 1000 + 30 + waits + held,
          Math.round(START + at * 48_000) % 2 ** 32,
          48_000,
        );
    }
    last = delay.take(
      new Map(Object.entries(voices).map(([name, { held = 60 }]) => [name, held])),
      second * 1000,
    );
  }
  return last;
}
const near = (value, expected) => assert.ok(Math.abs(value - expected) < 1, `${value} is not ${expected}`);

test("an idle line has no queue, whatever its delay, also when timestamps wrap", () => {
  const delay = new LineDelay();
  near(told(delay, 0, 20, { ada: {} }), 0);
  assert.equal(delay.take(new Map([["ada", 60]]), 21_000), null, "and nothing is told of what has not come");
});

test("a queue is measured without the browser's own buffer", () => {
  const delay = new LineDelay();
  told(delay, 0, 10, { ada: {} });
  near(told(delay, 10, 11, { ada: { waits: 150 } }), 150);
  near(told(delay, 11, 12, { ada: { waits: 0, held: 300 } }), 0);
});

test("a queue of only one sender is not on our line", () => {
  const delay = new LineDelay();
  told(delay, 0, 10, { ada: {}, grace: {} });
  near(told(delay, 10, 11, { ada: { waits: 300 }, grace: {} }), 0);
  near(told(delay, 11, 12, { ada: { waits: 300 }, grace: { waits: 200 } }), 200);
});

test("a restarted sender is measured from the beginning", () => {
  const delay = new LineDelay();
  told(delay, 0, 10, { ada: {} });
  delay.note("ada", 1e12 + 10_500, 2 ** 31, 48_000);
  near(delay.take(new Map([["ada", 60]]), 11_000), 0);
});

test("a longer path counts as empty after half a minute", () => {
  const delay = new LineDelay();
  told(delay, 0, 10, { ada: {} });
  near(told(delay, 10, 30, { ada: { waits: 200 } }), 200);
  near(told(delay, 30, 60, { ada: { waits: 200 } }), 0);
});
