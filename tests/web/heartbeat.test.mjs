// A connection that leads nowhere is noticed within 5 s of a question, and one that answers is kept.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { Pulse, SILENT_MS } from "../../src/svc/web/transport/heartbeat.js";

let asked, lost, pulse;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  asked = lost = 0;
  pulse = new Pulse(
    () => {
      asked++;
    },
    () => {
      lost++;
    },
  );
});

test("a connection that answers is asked every 10 s, and kept", () => {
  pulse.start();
  for (let i = 0; i < 10; i++) {
    mock.timers.tick(10_000);
    mock.timers.tick(100);
    pulse.heard();
  }
  assert.deepEqual([asked, lost], [10, 0]);
});

test("one that does not answer is lost 5 s after the question, once", () => {
  pulse.start();
  mock.timers.tick(10_000);
  mock.timers.tick(4999);
  assert.equal(lost, 0);
  mock.timers.tick(1);
  assert.equal(lost, 1);
  mock.timers.tick(60_000);
  assert.deepEqual([asked, lost], [1, 1]);
});

test("further questions do not put off the end", () => {
  pulse.start();
  pulse.ask();
  mock.timers.tick(3000);
  pulse.ask();
  mock.timers.tick(2000);
  assert.equal(lost, 1);
});

test("anything that comes answers, and a stopped pulse is silent", () => {
  pulse.start();
  pulse.ask();
  pulse.heard();
  mock.timers.tick(9000);
  pulse.stop();
  mock.timers.tick(60_000);
  assert.deepEqual([asked, lost], [1, 0]);
});

test("one that is doubted is lost 2 s after the question, whatever was asked before and after", () => {
  pulse.start();
  pulse.ask();
  mock.timers.tick(500);
  pulse.doubt();
  mock.timers.tick(1000);
  pulse.doubt();
  mock.timers.tick(999);
  assert.equal(lost, 0);
  mock.timers.tick(1);
  assert.deepEqual([asked, lost], [3, 1]);
});

test("one beside which a call has fallen silent is lost sooner", () => {
  pulse.start();
  pulse.doubt(SILENT_MS);
  mock.timers.tick(1499);
  assert.equal(lost, 0);
  mock.timers.tick(1);
  assert.equal(lost, 1);
});

test("one that has answered is asked in peace again", () => {
  pulse.start();
  pulse.doubt();
  pulse.heard();
  pulse.ask();
  mock.timers.tick(4999);
  assert.equal(lost, 0);
});

test("an answer is late after 0.3 s where there was doubt, once, and never where there was none", () => {
  let late = 0;
  pulse = new Pulse(
    () => {},
    () => {},
    () => {
      late++;
    },
  );
  pulse.start();
  pulse.ask();
  mock.timers.tick(1000);
  assert.equal(late, 0);
  pulse.doubt();
  mock.timers.tick(299);
  pulse.heard();
  mock.timers.tick(1000);
  assert.equal(late, 0);
  pulse.doubt();
  mock.timers.tick(300);
  pulse.doubt();
  mock.timers.tick(1000);
  assert.equal(late, 1);
});
