// Tests which messages cause notifications, and of which kind.

import assert from "node:assert/strict";
import { test } from "node:test";

import { current } from "../../src/svc/web/state/notifications.js";
import { kindOf, alertFor } from "../../src/svc/web/state/alert_rules.js";

const US = {
  own: { id: "me", roles: ["crew"] },
  blocked: new Set(["pest"]),
  level: "mentions",
  muted: false,
};
const message = (changes = {}) => ({ author: { id: "ada" }, mentions: [], mention_groups: [], ...changes });
const kind = (changes, us = {}) => kindOf(message(changes), { ...US, ...us });

test("mentions by name, of a role and of everyone cause a notification", () => {
  assert.equal(kind({ mentions: ["me"] }), "mention");
  for (const group of ["crew", "everyone", "here"])
    assert.equal(kind({ mention_groups: [group] }), "mention");
  assert.equal(kind({ mentions: ["grace"], mention_groups: ["band"] }), null);
});

test("the notification level determines whether other messages cause a notification", () => {
  assert.equal(kind({}), null);
  assert.equal(kind({}, { level: "all" }), "message");
  assert.equal(kind({ mentions: ["me"] }, { level: "nothing" }), null);
});

test("messages in followed threads and mentions in any thread cause a notification", () => {
  assert.equal(kind({}, { level: "all", follows: false }), null);
  assert.equal(kind({}, { level: "all", follows: true }), "message");
  assert.equal(kind({ mentions: ["me"] }, { follows: false }), "mention");
});

test("muted channels, own messages and blocked members cause no notification", () => {
  assert.equal(kind({ mentions: ["me"] }, { level: "all", muted: true }), null);
  assert.equal(kind({ author: { id: "me" }, mentions: ["me"] }, { level: "all" }), null);
  assert.equal(kind({ author: { id: "pest" }, mentions: ["me"] }, { level: "all" }), null);
});

const HERE = {
  pageVisible: true,
  messageVisible: false,
  visibleElsewhere: false,
  sound: true,
  notices: true,
  notifiedByPush: false,
};
const means = (changes) => alertFor({ ...HERE, ...changes });

test("a visible page plays a sound, except for the open channel", () => {
  assert.deepEqual(means({}), { sound: true, notice: false });
  assert.deepEqual(means({ messageVisible: true }), { sound: false, notice: false });
});

test("a hidden page shows a notification too, unless the server notifies this device", () => {
  assert.deepEqual(means({ pageVisible: false }), { sound: true, notice: true });
  assert.deepEqual(means({ pageVisible: false, messageVisible: true }), { sound: true, notice: true });
  assert.deepEqual(means({ pageVisible: false, notifiedByPush: true }), { sound: true, notice: false });
  assert.deepEqual(means({ pageVisible: false, notices: false, sound: false }), {
    sound: false,
    notice: false,
  });
});

test("a hidden tab leaves notifications to a visible one", () => {
  assert.deepEqual(means({ pageVisible: false, visibleElsewhere: true }), { sound: false, notice: false });
});

test("a temporary mute ends at its expiry time", () => {
  const choice = { level: "all", muted: true, muted_until_ms: 1000 };
  assert.equal(current(choice, 999).muted, true);
  assert.deepEqual(current(choice, 1000), { level: "all", muted: false, muted_until_ms: null });
  assert.equal(current({ ...choice, muted_until_ms: null }, 1000).muted, true);
});
