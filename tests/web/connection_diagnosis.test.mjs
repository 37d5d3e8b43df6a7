// Tests that a call reports the right connection problem at the right time.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import {
  RelayWatch,
  SilenceWatch,
  StandstillWatch,
  diagnosisOf,
  TroubleWatch,
} from "../../src/svc/web/call/connection_diagnosis.js";

const network = new EventTarget();
globalThis.addEventListener = network.addEventListener.bind(network);
globalThis.removeEventListener = network.removeEventListener.bind(network);
const online = (is) => {
  Object.defineProperty(globalThis, "navigator", { value: { onLine: is }, configurable: true });
  network.dispatchEvent(new Event(is ? "online" : "offline"));
};
online(true);

const LOST = { what: "lost" };
const candidate = (protocol) => `a=candidate:1 1 ${protocol} 1 192.0.2.1 3478 typ host\r\n`;
const sdp = (...protocols) => ["v=0\r\n", ...protocols.map(candidate)].join("");
const connection = (iceConnectionState, ...protocols) =>
  Object.assign(new EventTarget(), {
    iceConnectionState,
    remoteDescription: protocols.length ? { sdp: sdp(...protocols) } : null,
  });

function watched(context) {
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const reports = [];
  const at = { now: LOST };
  const watch = new TroubleWatch(
    () => at.now,
    (trouble) => reports.push(trouble?.what ?? ""),
  );
  context.after(() => {
    watch.stateChanged("over");
    mock.timers.reset();
  });
  return { watch, reports, at };
}

test("a call that connects in time reports nothing", (context) => {
  const { watch, reports } = watched(context);
  watch.stateChanged("joining");
  mock.timers.tick(6000);
  watch.stateChanged("connected");
  mock.timers.tick(60_000);
  assert.deepEqual(reports, []);
});

test("a slow call reports each cause once, and withdraws it once connected", (context) => {
  const { watch, reports, at } = watched(context);
  watch.stateChanged("joining");
  mock.timers.tick(10_000);
  at.now = { what: "path" };
  mock.timers.tick(10_000);
  watch.stateChanged("connected");
  watch.stateChanged("reconnecting");
  mock.timers.tick(10_000);
  watch.stateChanged("over");
  assert.deepEqual(reports, ["lost", "path", "", "path", ""]);
});

test("a missing network is reported immediately, even during a call", (context) => {
  const { watch, reports } = watched(context);
  watch.stateChanged("joining");
  watch.stateChanged("connected");
  online(false);
  assert.deepEqual(reports, ["offline"]);
  online(true);
  assert.deepEqual(reports, ["offline", ""]);
  watch.stateChanged("over");
  online(false);
  online(true);
  assert.deepEqual(reports, ["offline", ""]);
});

test("the progress of a session reveals where it is stuck", () => {
  const state = { signalled: true, hadMedia: false, relay: "none" };
  assert.deepEqual(diagnosisOf(connection("new", "udp"), { ...state, signalled: false }), {
    what: "signalling",
  });
  assert.deepEqual(diagnosisOf(connection("new"), state), { what: "signalling" });
  assert.deepEqual(diagnosisOf(connection("checking", "udp"), state), {
    what: "path",
    ways: "udp",
    port: "3478",
    relay: "none",
  });
  assert.deepEqual(diagnosisOf(connection("checking", "udp", "tcp"), state), {
    what: "path",
    ways: "both",
    port: "3478",
    relay: "none",
  });
  assert.deepEqual(diagnosisOf(connection("connected", "udp"), state), { what: "encryption" });
  assert.equal(diagnosisOf(connection("connected", "udp"), { ...state, hadMedia: true }).what, "path");
});

test("a silent path is suspected after 2 s if media flowed, otherwise after 3 s, and again later", () => {
  const doubted = (...readings) => {
    const watch = new SilenceWatch();
    return readings.map((came) => watch.isSilent(came) && came);
  };
  assert.deepEqual(doubted(5, 5, 5, 6, 6, 6, 7), Array(7).fill(false));
  assert.deepEqual(doubted(9000, 9001, 9001, 9001, 9001, 9001, 9001, 9001), [
    ...Array(4).fill(false),
    9001,
    false,
    false,
    9001,
  ]);
  assert.deepEqual(doubted(1, 5000, 5400, 5400, 5400, 5400, 5400, 5401, 5402, 5402, 5402, 5402), [
    ...Array(4).fill(false),
    5400,
    false,
    5400,
    ...Array(4).fill(false),
    5402,
  ]);
});

test("audio that stops is reported once, after a second and a half", () => {
  const stopped = (...looks) => {
    const watch = new StandstillWatch();
    return looks.map((seconds) => watch.hasStopped(seconds));
  };
  assert.deepEqual(stopped(1, 2, 3, 3, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5), [
    ...Array(7).fill(false),
    true,
    ...Array(6).fill(false),
    true,
  ]);
});

test("flowing audio is recognised, and a removed track is ignored", () => {
  const watch = new StandstillWatch();
  const goesOn = [3, 4, 4, 2].map((seconds) => {
    watch.hasStopped(seconds);
    return watch.isFlowing;
  });
  assert.deepEqual(goesOn, [true, true, false, false]);
});

test("a relay counts as silent until it rejects the client or works", () => {
  const event = (name, fields) => Object.assign(new Event(name), fields);
  const watching = () => {
    const pc = connection("new");
    return [pc, new RelayWatch(pc, [{ urls: ["turn:turn.example.org"] }])];
  };
  assert.equal(new RelayWatch(connection("new"), [{ urls: "stun:stun.example.org" }]).state, "none");
  const [refusing, refused] = watching();
  refusing.dispatchEvent(event("icecandidateerror", { errorCode: 701 }));
  assert.equal(refused.state, "silent");
  refusing.dispatchEvent(event("icecandidateerror", { errorCode: 401 }));
  assert.equal(refused.state, "refused");
  const [giving, given] = watching();
  giving.dispatchEvent(event("icecandidate", { candidate: { type: "relay" } }));
  giving.dispatchEvent(event("icecandidateerror", { errorCode: 401 }));
  assert.equal(given.state, "useless");
});
