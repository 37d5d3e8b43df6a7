// Tests that a broken connection is detected within 5 s of a ping, and that a working connection is kept.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { Heartbeat, SILENT_MS } from "../../src/svc/web/transport/heartbeat.js";

let pings, lost, heartbeat;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  pings = lost = 0;
  heartbeat = new Heartbeat(
    () => {
      pings++;
    },
    () => {
      lost++;
    },
  );
});

test("a responsive connection is pinged every 10 s and kept", () => {
  heartbeat.start();
  for (let i = 0; i < 10; i++) {
    mock.timers.tick(10_000);
    mock.timers.tick(100);
    heartbeat.received();
  }
  assert.deepEqual([pings, lost], [10, 0]);
});

test("an unresponsive connection is reported as lost once, 5 s after the ping", () => {
  heartbeat.start();
  mock.timers.tick(10_000);
  mock.timers.tick(4999);
  assert.equal(lost, 0);
  mock.timers.tick(1);
  assert.equal(lost, 1);
  mock.timers.tick(60_000);
  assert.deepEqual([pings, lost], [1, 1]);
});

test("later pings do not delay the report of a lost connection", () => {
  heartbeat.start();
  heartbeat.ask();
  mock.timers.tick(3000);
  heartbeat.ask();
  mock.timers.tick(2000);
  assert.equal(lost, 1);
});

test("any received frame counts as a response, and a stopped heartbeat is silent", () => {
  heartbeat.start();
  heartbeat.ask();
  heartbeat.received();
  mock.timers.tick(9000);
  heartbeat.stop();
  mock.timers.tick(60_000);
  assert.deepEqual([pings, lost], [1, 0]);
});

test("a suspect connection is reported as lost 2 s after the ping, regardless of other pings", () => {
  heartbeat.start();
  heartbeat.ask();
  mock.timers.tick(500);
  heartbeat.probe();
  mock.timers.tick(1000);
  heartbeat.probe();
  mock.timers.tick(999);
  assert.equal(lost, 0);
  mock.timers.tick(1);
  assert.deepEqual([pings, lost], [3, 1]);
});

test("the connection is reported as lost sooner while a call is silent", () => {
  heartbeat.start();
  heartbeat.probe(SILENT_MS);
  mock.timers.tick(1499);
  assert.equal(lost, 0);
  mock.timers.tick(1);
  assert.equal(lost, 1);
});

test("a suspect connection that responds gets the normal time limit again", () => {
  heartbeat.start();
  heartbeat.probe();
  heartbeat.received();
  heartbeat.ask();
  mock.timers.tick(4999);
  assert.equal(lost, 0);
});

test("a response from a suspect connection is reported as late once, after 0.3 s", () => {
  let late = 0;
  heartbeat = new Heartbeat(
    () => {},
    () => {},
    () => {
      late++;
    },
  );
  heartbeat.start();
  heartbeat.ask();
  mock.timers.tick(1000);
  assert.equal(late, 0);
  heartbeat.probe();
  mock.timers.tick(299);
  heartbeat.received();
  mock.timers.tick(1000);
  assert.equal(late, 0);
  heartbeat.probe();
  mock.timers.tick(300);
  heartbeat.probe();
  mock.timers.tick(1000);
  assert.equal(late, 1);
});
