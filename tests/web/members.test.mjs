// Tests the requests of the member list, and which selected members an action applies to.

import assert from "node:assert/strict";
import { test } from "node:test";

import { permissions } from "../../src/svc/web/state/channels.js";
import { memberQuery, applyToEach, EVERYBODY, obstacle } from "../../src/svc/web/state/admin/members.js";
import { roles } from "../../src/svc/web/state/people.js";
import { member as own } from "../../src/svc/web/state/server.js";

const DAY_MS = 86_400_000;
const NOW = 100 * DAY_MS;
const queryOf = (changes) => Object.fromEntries(memberQuery({ ...EVERYBODY, ...changes }, NOW));

test("without filters the newest members are requested", () => {
  assert.deepEqual(queryOf({}), { sort: "-joined", limit: "50" });
});

test("filters are converted to the server's parameters", () => {
  assert.deepEqual(
    queryOf({ query: " ada ", roleId: "crew", kind: "people", inTimeout: true, sort: "name" }),
    {
      query: "ada",
      role_id: "crew",
      bot: "false",
      in_timeout: "true",
      sort: "name",
      limit: "50",
    },
  );
  assert.equal(queryOf({ kind: "bots" }).bot, "true");
});

test("a positive number of days means more recent than that, and a negative number means earlier", () => {
  const { joined_after_ms: joined, seen_before_ms: seen } = queryOf({ joinedDays: 7, seenDays: -30 });
  assert.deepEqual([joined, seen], [String(93 * DAY_MS), String(70 * DAY_MS)]);
});

test("the next page follows the last member", () => {
  assert.equal(memberQuery(EVERYBODY, NOW, "m7").get("after"), "m7");
});

const ROLES = [
  { id: "chief", rank: 500, permissions: [] },
  { id: "crew", rank: 300, permissions: ["kick_members"] },
  { id: "plain", rank: 200, permissions: [] },
  { id: "member", rank: 100, permissions: [] },
];

function asChief() {
  roles.value = ROLES;
  own.value = { id: "us", roles: ["chief", "member"] };
  permissions.value = { server: ["manage_roles"], channels: {} };
}

test("the user and members of equal or higher rank are left out", () => {
  asChief();
  assert.equal(obstacle("kick", { id: "low", roles: ["member"] }), null);
  assert.equal(obstacle("kick", { id: "peer", roles: ["chief"] }), "rank");
  assert.equal(obstacle("ban", { id: "us", roles: ["chief"] }), "self");
});

test("a role is given to members who lack it, and removed from those who have it", () => {
  asChief();
  const plain = ROLES[2];
  assert.equal(obstacle("give", { id: "low", roles: ["member"] }, plain), null);
  assert.equal(obstacle("give", { id: "low", roles: ["plain"] }, plain), "has");
  assert.equal(obstacle("take", { id: "low", roles: ["plain"] }, plain), null);
  assert.equal(obstacle("take", { id: "low", roles: ["member"] }, plain), "has-not");
});

test("a role with permissions that the user lacks can be removed but not given", () => {
  asChief();
  assert.equal(obstacle("give", { id: "low", roles: ["member"] }, ROLES[1]), "rank");
  assert.equal(obstacle("take", { id: "low", roles: ["crew"] }, ROLES[1]), null);
});

test("one rejected request does not stop the others", async () => {
  const people = ["a", "b", "c"].map((id) => ({ id }));
  const progress = [];
  const { done, refused } = await applyToEach(
    people,
    async ({ id }) => {
      if (id === "b") throw new Error("rank_too_low");
    },
    (count) => progress.push(count),
  );
  assert.deepEqual(
    done.map(({ id }) => id),
    ["a", "c"],
  );
  assert.deepEqual(
    refused.map(({ member }) => member.id),
    ["b"],
  );
  assert.deepEqual(progress, [1, 2, 3]);
});

test("the action stops once it is cancelled", async () => {
  const { done } = await applyToEach(
    [{ id: "a" }, { id: "b" }],
    async () => {},
    () => false,
  );
  assert.deepEqual(
    done.map(({ id }) => id),
    ["a"],
  );
});
