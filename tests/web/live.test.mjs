// Tests that the live socket is replaced if it no longer works, and kept if it responds.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { Live } from "../../src/svc/web/transport/live.js";

const window = new EventTarget();
globalThis.addEventListener = window.addEventListener.bind(window);
globalThis.removeEventListener = window.removeEventListener.bind(window);
let sockets, events, live;

/** A socket that opens and responds on command. */
class Socket extends EventTarget {
  sent = [];
  closed = false;

  constructor(_url, protocols) {
    super();
    this.protocols = protocols;
    sockets.push(this);
  }

  send(text) {
    this.sent.push(JSON.parse(text));
  }

  close() {
    this.closed = true;
  }

  opens() {
    this.dispatchEvent(new Event("open"));
  }

  receive(frame) {
    this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(frame) }));
  }

  /** Respond to the last request. */
  answers(event, data = {}) {
    this.receive({ event, id: this.sent.at(-1).id, data });
  }
}

// Waits for the promises that the mocked timers have resolved.
const settled = () => new Promise(setImmediate);

async function pass(ms) {
  mock.timers.tick(ms);
  await settled();
}

beforeEach(async () => {
  live?.close();
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  globalThis.WebSocket = Socket;
  sockets = [];
  events = [];
  live = new Live(new URL("ws://chat.example/live"), async () => "token");
  for (const event of ["authenticated", "resumed", "offline"])
    live.addEventListener(event, () => events.push(event));
  await settled();
});

async function signedIn() {
  sockets[0].opens();
  sockets[0].answers("authenticated", { seq: 7 });
  await settled();
}

test("the token is sent in the handshake", () => {
  assert.deepEqual(sockets[0].protocols, ["svc.live", "svc.token.token"]);
});

test("a suspected, unresponsive socket is replaced as soon as another one is open", async () => {
  await signedIn();
  const waits = assert.rejects(live.request("ping", {}));
  live.probe();
  await pass(299);
  assert.equal(sockets.length, 1);
  await pass(1);
  assert.deepEqual([sockets.length, sockets[0].closed], [2, false]);
  sockets[1].opens();
  await waits;
  assert.equal(sockets[0].closed, true);
  assert.deepEqual(
    sockets[1].sent.map(({ event, data }) => [event, data.seq]),
    [["resume", 7]],
  );
  sockets[1].answers("resumed");
  await settled();
  await pass(5000);
  assert.deepEqual(events, ["authenticated", "offline", "resumed"]);
  assert.deepEqual([sockets.length, sockets[1].closed], [2, false]);
});

test("a socket that responds late is kept, and the other socket is closed", async () => {
  await signedIn();
  live.probe();
  await pass(400);
  sockets[0].answers("pong");
  assert.deepEqual([sockets[0].closed, sockets[1].closed], [false, true]);
  sockets[1].opens();
  await pass(5000);
  assert.deepEqual([events, sockets.length, sockets[1].sent], [["authenticated"], 2, []]);
});

test("if neither socket responds, a new attempt is made", async () => {
  await signedIn();
  live.probe();
  await pass(1500);
  assert.deepEqual(
    sockets.map(({ closed }) => closed),
    [true, true],
  );
  await pass(250);
  assert.equal(sockets.length, 3);
  sockets[2].opens();
  assert.equal(sockets[2].sent[0].event, "resume");
});

/** Sign in. Return a list that collects all later pushes. */
async function receiving() {
  await signedIn();
  const received = [];
  live.addEventListener("push", ({ detail }) => received.push(detail.data));
  const pushed = (...data) => {
    for (const event of data) sockets[0].receive({ event: "typing", data: event });
  };
  return { received, pushed };
}

test("an event is delivered immediately, and events soon after it as one batch 100 ms later", async () => {
  const { received, pushed } = await receiving();
  pushed(1, 2, 3);
  assert.deepEqual(received, [1]);
  await pass(99);
  pushed(4);
  assert.deepEqual(received, [1]);
  await pass(1);
  assert.deepEqual(received, [1, 2, 3, 4]);
  await pass(100);
  pushed(5);
  assert.deepEqual(received, [1, 2, 3, 4, 5]);
});

test("events that arrive before a response are delivered before it, and later ones immediately", async () => {
  const { received, pushed } = await receiving();
  const answered = live.request("ping", {}).then(() => received.push("answer"));
  pushed(1, 2);
  sockets[0].answers("pong");
  await answered;
  pushed(3);
  assert.deepEqual(received, [1, 2, "answer", 3]);
});

test("events that arrive before a disconnection are delivered before it", async () => {
  const { received, pushed } = await receiving();
  live.addEventListener("offline", () => received.push("offline"));
  pushed(1, 2);
  sockets[0].dispatchEvent(new CloseEvent("close", { code: 1006 }));
  assert.deepEqual(received, [1, 2, "offline"]);
});

test("after a takeover the full state arrives, and later events are numbered from there", async () => {
  const { received } = await receiving();
  live.addEventListener("authenticated", () => received.push("state"));
  const numbered = (seq) => sockets[0].receive({ event: "typing", data: seq, seq });
  numbered(11);
  numbered(12);
  sockets[0].receive({ event: "authenticated", data: { seq: 8 } });
  numbered(8);
  numbered(9);
  assert.deepEqual(received, [11, 12, "state", 9]);
});

test("no event is delivered after signing out", async () => {
  const { received, pushed } = await receiving();
  pushed(1, 2);
  live.close();
  await pass(1000);
  assert.deepEqual(received, [1]);
});

test("a hidden page receives each event immediately", async (context) => {
  const { received, pushed } = await receiving();
  globalThis.document = { hidden: true };
  context.after(() => delete globalThis.document);
  pushed(1, 2, 3);
  assert.deepEqual(received, [1, 2, 3]);
});

test("the next attempt waits for a network connection, but for at most 15 s", async (context) => {
  const browser = globalThis.navigator;
  const onLine = (is) =>
    Object.defineProperty(globalThis, "navigator", { value: { onLine: is }, configurable: true });
  context.after(() => Object.defineProperty(globalThis, "navigator", { value: browser, configurable: true }));
  onLine(false);
  for (const before of [1, 2]) {
    sockets.at(-1).dispatchEvent(new CloseEvent("close", { code: 1006 }));
    await pass(14_999);
    assert.equal(sockets.length, before);
    await pass(1);
    assert.equal(sockets.length, before + 1);
  }
  sockets.at(-1).dispatchEvent(new CloseEvent("close", { code: 1006 }));
  onLine(true);
  window.dispatchEvent(new Event("online"));
  await settled();
  assert.equal(sockets.length, 4);
});

test("the first attempt times out after 2 s, and later attempts after 4 s", async () => {
  for (const ms of [2000, 4000, 4000]) {
    const attempt = sockets.at(-1);
    await pass(ms - 1);
    assert.equal(attempt.closed, false);
    await pass(1);
    assert.equal(attempt.closed, true);
    await pass(250);
    assert.notEqual(sockets.at(-1), attempt);
  }
});
