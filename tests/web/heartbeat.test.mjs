// A broken connection is detected within 5 s of a ping, and a working connection is kept.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { Pulse, SILENT_MS } from "../../src/svc/web/transport/heartbeat.js";

let pings, lost, pulse;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  pings = lost = 0;
  pulse = new Pulse(
    () => {
      pings++;
    },
    () => {
      lost++;
    },
  );
});

test("a responsive connection is pinged every 10 s and kept", () => {
  pulse.start();
  for (let i = 0; i < 10; i++) {
    mock.timers.tick(10_000);
    mock.timers.tick(100);
    pulse.received();
  }
  assert.deepEqual([pings, lost], [10, 0]);
});

test("an unresponsive connection is reported as lost once, 5 s after the ping", () => {
  pulse.start();
  mock.timers.tick(10_000);
  mock.timers.tick(4999);
  assert.equal(lost, 0);
  mock.timers.tick(1);
  assert.equal(lost, 1);
  mock.timers.tick(60_000);
  assert.deepEqual([pings, lost], [1, 1]);
});

test("later pings do not delay the loss", () => {
  pulse.start();
  pulse.ask();
  mock.timers.tick(3000);
  pulse.ask();
  mock.timers.tick(2000);
  assert.equal(lost, 1);
});

test("any received frame counts as a response, and a stopped heartbeat is silent", () => {
  pulse.start();
  pulse.ask();
  pulse.received();
  mock.timers.tick(9000);
  pulse.stop();
  mock.timers.tick(60_000);
  assert.deepEqual([pings, lost], [1, 0]);
});

test("a suspect connection is reported as lost 2 s after the ping, regardless of other pings", () => {
  pulse.start();
  pulse.ask();
  mock.timers.tick(500);
  pulse.doubt();
  mock.timers.tick(1000);
  pulse.doubt();
  mock.timers.tick(999);
  assert.equal(lost, 0);
  mock.timers.tick(1);
  assert.deepEqual([pings, lost], [3, 1]);
});

test("the connection is reported as lost sooner while a call is silent", () => {
  pulse.start();
  pulse.doubt(SILENT_MS);
  mock.timers.tick(1499);
  assert.equal(lost, 0);
  mock.timers.tick(1);
  assert.equal(lost, 1);
});

test("a connection that has responded returns to the normal rhythm", () => {
  pulse.start();
  pulse.doubt();
  pulse.received();
  pulse.ask();
  mock.timers.tick(4999);
  assert.equal(lost, 0);
});

test("a response from a suspect connection is reported as late once, after 0.3 s", () => {
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
  pulse.received();
  mock.timers.tick(1000);
  assert.equal(late, 0);
  pulse.doubt();
  mock.timers.tick(300);
  pulse.doubt();
  mock.timers.tick(1000);
  assert.equal(late, 1);
});
