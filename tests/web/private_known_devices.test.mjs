// Tests that each new device in a conversation is reported, regardless of how it was added.

import assert from "node:assert/strict";
import { test } from "node:test";
import { noteOf, removerOf } from "../../src/svc/web/state/private/device_changes.js";
import { noteUnknown } from "../../src/svc/web/state/private/known_devices.js";

const [ADA, BEN, OTHER] = [
  { memberId: "ada", thumbprint: "a" },
  { memberId: "ben", thumbprint: "b" },
  { memberId: "ben", thumbprint: "c" },
];

function store() {
  const all = new Map();
  return {
    get: async (name) => all.get(name),
    put: async (changes) => {
      for (const [name, value] of changes) all.set(name, value);
    },
    under: async (prefix) => [...all].filter(([name]) => name.startsWith(prefix)).map(([, value]) => value),
  };
}

const notes = async (store) => (await store.under("changes/1/")).map((change) => noteOf(change, true));

test("the first devices are remembered, and a later one without a commit is reported once", async () => {
  const devices = store();
  await noteUnknown(devices, "1", [ADA, BEN], { seq: 1, sentAtMs: 1 });
  assert.deepEqual(await notes(devices), []);
  for (let time = 0; time < 2; time += 1)
    await noteUnknown(devices, "1", [ADA, OTHER], { seq: 7, sentAtMs: 2 });
  assert.deepEqual(await notes(devices), [[{ what: "new-device", memberId: "ben" }]]);
  await noteUnknown(devices, "1", [ADA, BEN, OTHER], { seq: 9, sentAtMs: 3 });
  assert.equal((await notes(devices)).length, 1, "one that has come back is known");
});

test("a device added by a commit is not reported again", async () => {
  const devices = store();
  await noteUnknown(devices, "1", [ADA, BEN], { seq: 1, sentAtMs: 1 });
  await devices.put([
    [
      "changes/1/3",
      { seq: 3, sentAtMs: 2, added: [OTHER], removed: [], before: ["ada", "ben"], after: ["ada", "ben"] },
    ],
  ]);
  await noteUnknown(devices, "1", [ADA, BEN, OTHER], { seq: 3, sentAtMs: 2 });
  assert.equal((await notes(devices)).length, 1);
});

test("in a group, people join and leave, but between two people, only devices change", () => {
  const change = { added: [OTHER], removed: [ADA], before: ["ada"], after: ["ben"] };
  assert.deepEqual(noteOf(change, false), [
    { what: "joined", memberId: "ben" },
    { what: "left", memberId: "ada" },
  ]);
  assert.deepEqual(noteOf(change, true), [
    { what: "new-device", memberId: "ben" },
    { what: "device-gone", memberId: "ada" },
  ]);
});

test("a removal is reported with its author, but a later departure is not attributed to anyone", () => {
  const of = (seq, removed, after) => ({
    seq,
    sentAtMs: 0,
    added: [],
    removed,
    before: ["ada", "ben"],
    after,
  });
  const changes = [
    of(2, [{ memberId: "ben", thumbprint: "b" }], ["ada"]),
    of(9, [], ["ada", "ben"]),
    of(12, [{ memberId: "ben", thumbprint: "b" }], ["ada"]),
  ];
  const reasons = (removals) =>
    [changes[0], changes[2]].map(
      (change) => noteOf(change, false, (memberId) => removerOf(change, memberId, changes, removals))[0],
    );
  const [left, removed] = [
    { what: "left", memberId: "ben" },
    { what: "removed", memberId: "ben", by: "ada" },
  ];
  assert.deepEqual(reasons([{ seq: 4, by: "ada", who: "ben" }]), [removed, left]);
  assert.deepEqual(reasons([{ seq: 13, by: "ada", who: "ben" }]), [left, removed]);
  assert.deepEqual(reasons([{ seq: 13, by: "ada", who: "somebody else" }]), [left, left]);
});
