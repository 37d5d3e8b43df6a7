// Tests the rank changes that moving a role requests.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ranksAfter } from "../../src/svc/web/state/admin/roles.js";

const below = (...ranks) => ranks.map((rank, index) => ({ id: "abcdef"[index], rank }));

/** Return the ids by rank, highest first, after the requested change. */
function ordered(roles, changed) {
  return roles
    .map(({ id, rank }) => ({ id, rank: changed[id] ?? rank }))
    .sort((a, b) => b.rank - a.rank)
    .map(({ id }) => id)
    .join("");
}

test("a role moves to another's position, up and down", () => {
  const roles = below(400, 300, 200, 100);
  assert.equal(ordered(roles, ranksAfter(roles, "d", 0, 1000)), "dabc");
  assert.equal(ordered(roles, ranksAfter(roles, "a", 2, 1000)), "bcad");
  assert.equal(ordered(roles, ranksAfter(roles, "b", 2, 1000)), "acbd");
});

test("only changed ranks are sent", () => {
  assert.deepEqual(ranksAfter(below(400, 300, 200, 100), "b", 2, 1000), { c: 300, b: 200 });
});

test("moving a role to the same or an invalid position sends no request", () => {
  const roles = below(300, 200);
  for (const index of [0, -1, 2]) assert.equal(ranksAfter(roles, "a", index, 1000), null);
  assert.equal(ranksAfter(roles, "x", 0, 1000), null);
});

test("equal ranks are separated, below the user's own rank", () => {
  const roles = below(200, 200, 200);
  const changed = ranksAfter(roles, "c", 0, 203);
  assert.equal(ordered(roles, changed), "cab");
  assert.ok(Object.values(changed).every((rank) => rank < 203));
  const squeezed = ranksAfter(roles, "c", 0, 201);
  assert.equal(ordered(roles, squeezed), "cab");
  assert.ok(Object.values(squeezed).every((rank) => rank < 201));
});
