// Tests that part of a channel's history stays loaded while messages arrive, and that failed requests are
// retried.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Conversation, conversationOf } from "../../src/svc/web/state/conversation.js";
import { connection } from "../../src/svc/web/state/server.js";

const [MAX_LOADED, MAX_AT_END, AT_ONCE] = [210, 200, 50]; // As in state/conversation.js.
const posted = (number) => ({
  id: `m${String(number).padStart(4, "0")}`,
  channel_id: "c",
  text: String(number),
});
const from = (first, count) => Array.from({ length: count }, (_, at) => posted(first + at));

/** Return a conversation with the maximum number of loaded messages. */
async function full() {
  const page = { messages: from(0, MAX_LOADED), more_before: false, more_after: false };
  const conversation = new Conversation("c", null, async () => page);
  await conversation.newest();
  return conversation;
}

test("old messages are removed rarely, in batches, and not while others arrive", async (context) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  context.after(() => mock.timers.reset());
  const conversation = await full();
  conversation.take(posted(MAX_LOADED));
  let drops = 0;
  for (let number = MAX_LOADED + 1; number < MAX_LOADED + 1000; number += 1) {
    const before = conversation.messages.value;
    conversation.take(posted(number));
    assert.deepEqual(conversation.messages.value, [...before, posted(number)]);
    mock.timers.tick(50);
    const now = conversation.messages.value;
    if (now[0] !== before[0]) drops += 1;
    assert.ok(now.length > before.length - AT_ONCE);
  }
  assert.ok(conversation.messages.value.length <= MAX_AT_END);
  assert.equal(conversation.moreBefore.value, true);
  assert.ok(drops <= 25, `${drops} times`);
});

test("the maximum is never exceeded, even if timers are late, as in a hidden page", async () => {
  const conversation = await full();
  for (const message of from(MAX_LOADED, 1000)) {
    conversation.take(message);
    assert.ok(conversation.messages.value.length <= MAX_LOADED);
  }
  assert.equal(conversation.moreBefore.value, true);
});

test("messages stay in place while the user is reading older messages", async () => {
  const conversation = await full();
  conversation.atEnd = false;
  for (const message of from(MAX_LOADED, 5)) conversation.take(message);
  assert.deepEqual(
    conversation.messages.value.map(({ text }) => text),
    from(0, MAX_LOADED).map(({ text }) => text),
  );
  assert.equal(conversation.moreAfter.value, true);
});

const refusal = Object.assign(new Error("Slowly"), { code: "rate_limited", status: 429 });
const page = (ids, more) => ({ messages: ids.map((id) => ({ id })), more_before: more, more_after: false });

test("a failed request for older messages is retried on demand, and loaded messages stay", async () => {
  const answers = [page(["b", "c"], true), refusal, page(["a"], false)];
  const conversation = new Conversation("general", null, async () => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  });
  await conversation.newest();
  await conversation.older();
  assert.notEqual(conversation.olderProblem.value, "");
  assert.equal(conversation.problem.value, "");
  await conversation.older();
  assert.deepEqual(
    conversation.messages.value.map(({ id }) => id),
    ["b", "c"],
  );
  await conversation.older(true);
  assert.equal(conversation.olderProblem.value, "");
  assert.deepEqual(
    conversation.messages.value.map(({ id }) => id),
    ["a", "b", "c"],
  );
});

test("after a takeover, missed messages are loaded immediately, and others within 10 s", async (context) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  context.mock.method(Math, "random", () => 0.5);
  context.after(() => {
    mock.timers.reset();
    connection.value = "none";
  });
  const conversation = conversationOf("general");
  const requests = [];
  conversation.ask = async (_, wanted) => {
    requests.push(wanted.limit);
    return { messages: from(0, 60), more_before: false, more_after: false };
  };
  await conversation.newest();
  const loads = async (last, ms = 0) => {
    requests.length = 0;
    conversation.refresh(last);
    mock.timers.tick(ms);
    await new Promise(setImmediate);
    return requests;
  };
  const [newest, next] = [posted(59).id, posted(60).id];
  // A client that reconnects loads immediately, because it has already waited.
  connection.value = "offline";
  assert.deepEqual(await loads(newest), [60]);
  connection.value = "online";
  assert.deepEqual(await loads(next), [50]);
  assert.deepEqual(await loads(newest, 4999), []);
  connection.value = "offline";
  mock.timers.tick(1);
  connection.value = "online";
  mock.timers.tick(4999);
  assert.deepEqual(requests, []);
  mock.timers.tick(1);
  assert.deepEqual(requests, [60]);
  assert.deepEqual(await loads(null, 5000), [60]);
});
