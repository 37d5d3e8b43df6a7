// Tests the initials that avatars without an image show.

import assert from "node:assert/strict";
import { test } from "node:test";

import { initials } from "../../src/svc/web/views/parts/avatar.js";

test("initials are the first letters of the first and the last word", () => {
  assert.equal(initials("Ada"), "A");
  assert.equal(initials("grace brewster murray hopper"), "GH");
  assert.equal(initials("Иван Петров"), "ИП");
  assert.equal(initials("李 雷"), "李雷");
});

test("symbols and emoji are not used as initials", () => {
  assert.equal(initials("✨ ada ✨"), "A");
  assert.equal(initials("(ada) [lovelace]"), "AL");
  assert.equal(initials("🎉"), "?");
  assert.equal(initials("𝒜da"), "𝒜");
});
