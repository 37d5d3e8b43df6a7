// Tests that the content of private messages is assembled correctly, and that hostile content is harmless.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  deletionPayload,
  editPayload,
  emptied,
  messagePayload,
  reactionPayload,
  contentOf,
} from "../../src/svc/web/state/private/content.js";
import { encryptedFilesIn } from "../../src/svc/web/state/private/file_encryption.js";

const [ADA, BEN] = ["ada", "ben"];
const inOrder = (...all) =>
  all.map(([memberId, payload], at) => ({ seq: at + 1, memberId, said: payload, sentAtMs: 1000 + at }));
const refOf = (by, { key }) => ({ by, key });

test("an emoji with and without its variation selector counts as one reaction", () => {
  const payload = messagePayload("Here");
  const hearts = [
    [ADA, "❤️", true],
    [BEN, "❤", true],
    [ADA, "❤\uFE0E", false],
  ];
  const { messages } = contentOf(
    inOrder(
      [ADA, payload],
      ...hearts.map(([by, sign, on]) => [by, reactionPayload(refOf(ADA, payload), sign, on)]),
    ),
  );
  assert.deepEqual(messages[0].reactions, [{ emoji: "❤️", member_ids: [BEN] }]);
});

test("edits, replies and reactions are applied to their message", () => {
  const first = messagePayload("Hello");
  const answer = messagePayload("Hello yourself", { reply: refOf(ADA, first) });
  const { messages, emptying } = contentOf(
    inOrder(
      [ADA, first],
      [BEN, answer],
      [ADA, editPayload(refOf(ADA, first), "Hello Ben")],
      [BEN, reactionPayload(refOf(ADA, first), "👍", true)],
      [ADA, reactionPayload(refOf(ADA, first), "👍", true)],
      [BEN, reactionPayload(refOf(ADA, first), "👍", false)],
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
  const first = messagePayload("Mine");
  const { messages } = contentOf(
    inOrder(
      [ADA, first],
      [BEN, editPayload(refOf(ADA, first), "Yours")],
      [BEN, deletionPayload(refOf(ADA, first))],
    ),
  );
  assert.deepEqual(
    messages.map(({ text, editedAtMs }) => [text, editedAtMs]),
    [["Mine", null]],
  );
});

test("a deletion clears every stored version of the text once, and stays in effect", () => {
  const [first, other] = [messagePayload("Secret"), messagePayload("Stays")];
  const entries = inOrder(
    [ADA, first],
    [ADA, editPayload(refOf(ADA, first), "More secret")],
    [BEN, other],
    [ADA, deletionPayload(refOf(ADA, first))],
    [ADA, editPayload(refOf(ADA, first), "Back")],
  );
  const { messages, emptying } = contentOf(entries);
  assert.deepEqual([messages.map(({ text }) => text), emptying], [["Stays"], [1, 2]]);
  const left = entries.map((entry) =>
    emptying.includes(entry.seq) ? { ...entry, said: emptied(entry.said) } : entry,
  );
  assert.deepEqual(contentOf(left).emptying, []);
  assert.deepEqual(
    contentOf(left).messages.map(({ text }) => text),
    ["Stays"],
  );
  assert.ok(!JSON.stringify(left.slice(0, 4)).includes("ecret"));
});

test("a key identifies one message by one author", () => {
  const first = messagePayload("Once");
  const { messages } = contentOf(
    inOrder([ADA, first], [ADA, { ...first, text: "Twice" }], [BEN, { ...first, text: "Ben's" }]),
  );
  assert.deepEqual(
    messages.map(({ text }) => text),
    ["Once", "Ben's"],
  );
});

test("unreadable content and content of newer versions are reported", () => {
  const { messages } = contentOf(inOrder([ADA, null], [null, null], [BEN, { ...messagePayload("?"), v: 2 }]));
  assert.deepEqual(
    messages.map(({ trouble, seq }) => [trouble, seq]),
    [
      ["unreadable", 1],
      ["newer", 3],
    ],
  );
});

test("invalid content is ignored", () => {
  const first = messagePayload("Here");
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
  const { messages } = contentOf(inOrder([ADA, first], ...nonsense.map((payload) => [ADA, payload])));
  assert.deepEqual(
    messages.map(({ text, reactions }) => [text, reactions]),
    [["Here", []]],
  );
});

test("a file name shows its real extension", () => {
  const sealed = { id: "1", key: `${"A".repeat(43)}=`, digest: `${"B".repeat(43)}=`, bytes: 1 };
  const names = ["in\u202efdp.exe", "letter.pdf\u2800\u2800\u3164\n\t .exe", "\u0645\u06cc\u200c\u062e.txt"];
  assert.deepEqual(
    encryptedFilesIn(names.map((name) => ({ ...sealed, name }))).map(({ name }) => name),
    ["infdp.exe", "letter.pdf .exe", "\u0645\u06cc\u200c\u062e.txt"],
  );
});
