// Tests that the history transferred to a new device is bounded and never replaces messages that the device
// has received itself.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  transferRequestsIn,
  MAX_BYTES,
  MAX_ENTRIES,
  packEntries,
} from "../../src/svc/web/state/private/history_messages.js";

const read = (plain) => JSON.parse(new TextDecoder().decode(plain));
const entry = (seq, payload = { type: "message", key: `${seq}`, text: "hello" }) => ({
  seq,
  memberId: "ada",
  thumbprint: "a",
  said: payload,
  sentAtMs: seq,
  chain: "c",
});
const many = (count, payload) => Array.from({ length: count }, (_, at) => entry(at + 1, payload));

test("only earlier messages are transferred, in order and without metadata", () => {
  const all = [
    entry(3),
    entry(1),
    { ...entry(2), said: null },
    entry(4, { type: "earlier", ask: "?" }),
    entry(5),
    entry(6),
  ];
  assert.deepEqual(
    read(packEntries(all, 5)).map(({ seq }) => seq),
    [1, 3, 5],
  );
  assert.equal(read(packEntries(all, 5))[0].chain, undefined);
});

test("if there are too many messages, the newest are transferred", () => {
  const seqs = read(packEntries(many(MAX_ENTRIES + 5), MAX_ENTRIES + 5)).map(({ seq }) => seq);
  assert.deepEqual([seqs.length, seqs[0], seqs.at(-1)], [MAX_ENTRIES, 6, MAX_ENTRIES + 5]);
  const long = { type: "message", key: "k", text: "x".repeat(4000) };
  const plain = packEntries(many(3000, long), 3000);
  assert.ok(plain.length <= MAX_BYTES && plain.length > MAX_BYTES * 0.8);
  assert.equal(read(plain).at(-1).seq, 3000);
});

test("invalid requests are not shown", () => {
  const from = (payload) => ({ ...entry(9, { type: "earlier", ...payload }), thumbprint: "b" });
  const shown = (payload, before = [entry(1)]) =>
    transferRequestsIn([...before, from(payload)], { memberId: "ada", thumbprint: "a" }, ["b"]).length;
  assert.equal(shown({ ask: "key", up_to: 5 }), 1);
  assert.equal(shown({ ask: "key", up_to: 9 }), 0, "it has read that itself");
  assert.equal(shown({ ask: 1, up_to: 5 }), 0);
  assert.equal(shown({ ask: "key" }), 0);
  assert.equal(shown({ ask: "key", up_to: 5 }, [entry(6)]), 0, "there is nothing to give");
});
