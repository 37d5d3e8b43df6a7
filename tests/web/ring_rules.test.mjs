// The messages that notify, and how.

import assert from "node:assert/strict";
import { test } from "node:test";

import { current } from "../../src/svc/web/state/notifications.js";
import { kindOf, meansOf } from "../../src/svc/web/state/ring_rules.js";

const US = {
  own: { id: "me", roles: ["crew"] },
  blocked: new Set(["pest"]),
  level: "mentions",
  muted: false,
};
const message = (changes = {}) => ({ author: { id: "ada" }, mentions: [], mention_groups: [], ...changes });
const kind = (changes, us = {}) => kindOf(message(changes), { ...US, ...us });

test("a mention rings, by name, by role and by everyone", () => {
  assert.equal(kind({ mentions: ["me"] }), "mention");
  for (const group of ["crew", "everyone", "here"])
    assert.equal(kind({ mention_groups: [group] }), "mention");
  assert.equal(kind({ mentions: ["grace"], mention_groups: ["band"] }), null);
});

test("the level decides about everything else", () => {
  assert.equal(kind({}), null);
  assert.equal(kind({}, { level: "all" }), "message");
  assert.equal(kind({ mentions: ["me"] }, { level: "nothing" }), null);
});

test("of threads, those that one follows ring, and mentions in all", () => {
  assert.equal(kind({}, { level: "all", follows: false }), null);
  assert.equal(kind({}, { level: "all", follows: true }), "message");
  assert.equal(kind({ mentions: ["me"] }, { follows: false }), "mention");
});

test("what is muted, one's own and what the blocked write never rings", () => {
  assert.equal(kind({ mentions: ["me"] }, { level: "all", muted: true }), null);
  assert.equal(kind({ author: { id: "me" }, mentions: ["me"] }, { level: "all" }), null);
  assert.equal(kind({ author: { id: "pest" }, mentions: ["me"] }, { level: "all" }), null);
});

const HERE = { inSight: true, sees: false, elsewhere: false, sound: true, notices: true, rung: false };
const means = (changes) => meansOf({ ...HERE, ...changes });

test("in sight a sound is enough, and what is being read makes none", () => {
  assert.deepEqual(means({}), { sound: true, notice: false });
  assert.deepEqual(means({ sees: true }), { sound: false, notice: false });
});

test("out of sight there is a notice too, unless the server rings this device", () => {
  assert.deepEqual(means({ inSight: false }), { sound: true, notice: true });
  assert.deepEqual(means({ inSight: false, sees: true }), { sound: true, notice: true });
  assert.deepEqual(means({ inSight: false, rung: true }), { sound: true, notice: false });
  assert.deepEqual(means({ inSight: false, notices: false, sound: false }), { sound: false, notice: false });
});

test("a tab out of sight leaves it to the one that is in sight", () => {
  assert.deepEqual(means({ inSight: false, elsewhere: true }), { sound: false, notice: false });
});

test("a mute ends at its time", () => {
  const choice = { level: "all", muted: true, muted_until_ms: 1000 };
  assert.equal(current(choice, 999).muted, true);
  assert.deepEqual(current(choice, 1000), { level: "all", muted: false, muted_until_ms: null });
  assert.equal(current({ ...choice, muted_until_ms: null }, 1000).muted, true);
});
