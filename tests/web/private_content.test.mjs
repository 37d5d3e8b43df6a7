// The content of private messages is assembled as intended, and hostile content is harmless.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  deleteSaid,
  editSaid,
  emptied,
  messageSaid,
  reactionSaid,
  toldBy,
} from "../../src/svc/web/state/private/content.js";
import { filesSaid } from "../../src/svc/web/state/private/file_encryption.js";

const [ADA, BEN] = ["ada", "ben"];
const inOrder = (...all) =>
  all.map(([memberId, said], at) => ({ seq: at + 1, memberId, said, sentAtMs: 1000 + at }));
const refOf = (by, { key }) => ({ by, key });

test("an emoji with and without its variation selector counts as one reaction", () => {
  const said = messageSaid("Here");
  const hearts = [
    [ADA, "❤️", true],
    [BEN, "❤", true],
    [ADA, "❤\uFE0E", false],
  ];
  const { messages } = toldBy(
    inOrder([ADA, said], ...hearts.map(([by, sign, on]) => [by, reactionSaid(refOf(ADA, said), sign, on)])),
  );
  assert.deepEqual(messages[0].reactions, [{ emoji: "❤️", member_ids: [BEN] }]);
});

test("edits, replies and reactions are applied to their message", () => {
  const first = messageSaid("Hello");
  const answer = messageSaid("Hello yourself", { reply: refOf(ADA, first) });
  const { messages, emptying } = toldBy(
    inOrder(
      [ADA, first],
      [BEN, answer],
      [ADA, editSaid(refOf(ADA, first), "Hello Ben")],
      [BEN, reactionSaid(refOf(ADA, first), "👍", true)],
      [ADA, reactionSaid(refOf(ADA, first), "👍", true)],
      [BEN, reactionSaid(refOf(ADA, first), "👍", false)],
    ),
  );
  assert.deepEqual(
    messages.map(({ text, editedAtMs, seq }) => [text, editedAtMs, seq]),
    [
      ["Hello Ben", 1002, 1],
      ["Hello yourself", null, 2],
    ],
  );
  assert.equal(messages[1].reply, messages[0].id);
  assert.deepEqual(messages[0].reactions, [{ emoji: "👍", member_ids: [ADA] }]);
  assert.deepEqual(emptying, []);
});

test("only the author can edit or delete a message", () => {
  const first = messageSaid("Mine");
  const { messages } = toldBy(
    inOrder([ADA, first], [BEN, editSaid(refOf(ADA, first), "Yours")], [BEN, deleteSaid(refOf(ADA, first))]),
  );
  assert.deepEqual(
    messages.map(({ text, editedAtMs }) => [text, editedAtMs]),
    [["Mine", null]],
  );
});

test("a deletion is announced once, with the earlier versions of the text, and stays in effect", () => {
  const [first, other] = [messageSaid("Secret"), messageSaid("Stays")];
  const entries = inOrder(
    [ADA, first],
    [ADA, editSaid(refOf(ADA, first), "More secret")],
    [BEN, other],
    [ADA, deleteSaid(refOf(ADA, first))],
    [ADA, editSaid(refOf(ADA, first), "Back")],
  );
  const { messages, emptying } = toldBy(entries);
  assert.deepEqual([messages.map(({ text }) => text), emptying], [["Stays"], [1, 2]]);
  const left = entries.map((entry) =>
    emptying.includes(entry.seq) ? { ...entry, said: emptied(entry.said) } : entry,
  );
  assert.deepEqual(toldBy(left).emptying, []);
  assert.deepEqual(
    toldBy(left).messages.map(({ text }) => text),
    ["Stays"],
  );
  assert.ok(!JSON.stringify(left.slice(0, 4)).includes("ecret"));
});

test("a key identifies one message by one author", () => {
  const first = messageSaid("Once");
  const { messages } = toldBy(
    inOrder([ADA, first], [ADA, { ...first, text: "Twice" }], [BEN, { ...first, text: "Ben's" }]),
  );
  assert.deepEqual(
    messages.map(({ text }) => text),
    ["Once", "Ben's"],
  );
});

test("unreadable content and later versions are reported as such", () => {
  const { messages } = toldBy(inOrder([ADA, null], [null, null], [BEN, { ...messageSaid("?"), v: 2 }]));
  assert.deepEqual(
    messages.map(({ trouble, seq }) => [trouble, seq]),
    [
      ["unreadable", 1],
      ["newer", 3],
    ],
  );
});

test("invalid content is ignored", () => {
  const first = messageSaid("Here");
  const ref = refOf(ADA, first);
  const nonsense = [
    {},
    { v: 1, type: "message" },
    { v: 1, type: "message", text: 3, key: "a" },
    { v: 1, type: "message", text: "x".repeat(4001), key: "b" },
    { v: 1, type: "message", text: "x", key: "k".repeat(65) },
    { v: 1, type: "message", text: "x", key: {} },
    { v: 1, type: "reaction" },
    { v: 1, type: "reaction", of: ref, emoji: "a b", on: true },
    { v: 1, type: "reaction", of: ref, emoji: "x".repeat(65), on: true },
    { v: 1, type: "reaction", of: first.key, emoji: "👍", on: true },
    { v: 1, type: "reaction", of: { by: ADA, key: "other" }, emoji: "👍", on: true },
    { v: 1, type: "edit", of: ref, text: "no" },
    { v: 1, type: "edit", of: "__proto__", text: "no" },
    { v: 1, type: "delete" },
    { v: 1, type: "later", text: "?" },
  ];
  const { messages } = toldBy(inOrder([ADA, first], ...nonsense.map((said) => [ADA, said])));
  assert.deepEqual(
    messages.map(({ text, reactions }) => [text, reactions]),
    [["Here", []]],
  );
});

test("a file name shows its real extension", () => {
  const sealed = { id: "1", key: `${"A".repeat(43)}=`, digest: `${"B".repeat(43)}=`, bytes: 1 };
  const names = ["in\u202efdp.exe", "letter.pdf\u2800\u2800\u3164\n\t .exe", "\u0645\u06cc\u200c\u062e.txt"];
  assert.deepEqual(
    filesSaid(names.map((name) => ({ ...sealed, name }))).map(({ name }) => name),
    ["infdp.exe", "letter.pdf .exe", "\u0645\u06cc\u200c\u062e.txt"],
  );
});
