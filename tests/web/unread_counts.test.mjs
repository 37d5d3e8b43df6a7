// Tests the numbers on the badges of channels, private conversations and servers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { shortCount } from "../../src/svc/web/state/unread_counts.js";

test("a badge shows at most two digits", () => {
  assert.equal(shortCount(99), 99);
  assert.equal(shortCount(100), "99+");
  assert.equal(shortCount(500), "99+");
});
