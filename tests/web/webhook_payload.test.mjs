// Tests that webhook messages are composed without empty objects, and checked against a schema.

import assert from "node:assert/strict";
import { test } from "node:test";
import { picturesOf, shownCard, withAt } from "../../src/svc/web/state/admin/webhook_payload.js";
import { problemsIn } from "../../src/svc/web/state/admin/json_schema.js";

test("adding and removing fields leaves no empty objects", () => {
  let payload = { text: "hi" };
  payload = withAt(payload, ["cards", 0, "author", "name"], "Ada");
  payload = withAt(payload, ["cards", 0, "fields", 0, "name"], "Commit");
  payload = withAt(payload, ["cards", 0, "fields", 0, "inline"], true);
  assert.deepEqual(payload, {
    text: "hi",
    cards: [{ author: { name: "Ada" }, fields: [{ name: "Commit", inline: true }] }],
  });
  payload = withAt(payload, ["cards", 0, "author", "name"], "");
  payload = withAt(payload, ["cards", 0, "fields", 0, "name"], "");
  payload = withAt(payload, ["cards", 0, "fields", 0, "inline"], false);
  assert.deepEqual(payload, { text: "hi" });
});

test("unknown fields in the payload are kept", () => {
  const payload = { text: "hi", tts: true, cards: [{ title: "a" }, { title: "b" }] };
  assert.deepEqual(withAt(payload, ["cards", 0, "title"], "c"), {
    text: "hi",
    tts: true,
    cards: [{ title: "c" }, { title: "b" }],
  });
});

test("an incomplete card is shown with its valid parts", () => {
  const card = {
    title: 3,
    description: "d",
    color: "#00ff00",
    fields: [{ name: "n", value: "v" }, null],
    author: { url: "x" },
    image_url: "https://a.example/b.png",
  };
  assert.deepEqual(shownCard(card), {
    description: "d",
    color: 0x00ff00,
    author: null,
    footer: null,
    fields: [{ name: "n", value: "v", inline: false }],
  });
  assert.equal(shownCard({ color: "red" }).color, null);
  assert.deepEqual(picturesOf(card), ["https://a.example/b.png"]);
});

const ROOT = {
  components: {
    schemas: {
      Field: {
        type: "object",
        required: ["name"],
        properties: {
          name: { type: "string", minLength: 1, maxLength: 3, pattern: "\\S" },
          inline: { type: ["boolean", "null"] },
        },
      },
    },
  },
};
const SCHEMA = {
  type: "object",
  properties: {
    text: { type: "string", maxLength: 2 },
    color: {
      anyOf: [
        { type: "string", pattern: "^#[0-9a-f]{6}$" },
        { type: "integer", minimum: 0, maximum: 9 },
        { type: "null" },
      ],
    },
    fields: { type: "array", maxItems: 2, items: { $ref: "#/components/schemas/Field" } },
  },
  anyOf: [
    { required: ["text"] },
    { required: ["fields"], properties: { fields: { type: "array", minItems: 1 } } },
  ],
};
const problems = (value) =>
  problemsIn(SCHEMA, value, ROOT).map(({ path, keyword, limit }) => [path, keyword, limit]);

test("every problem is listed with its path", () => {
  assert.deepEqual(problems({ text: "😀😀" }), []);
  assert.deepEqual(problems({ fields: [{ name: "a", inline: null }], color: 3, unknown: 1 }), []);
  assert.deepEqual(problems({}), [["", "anyOf", null]]);
  assert.deepEqual(problems([]), [["", "type", null]]);
  assert.deepEqual(problems({ text: "abc", color: "red" }), [
    ["text", "maxLength", 2],
    ["color", "anyOf", null],
  ]);
  assert.deepEqual(problems({ fields: [{}, { name: "" }] }), [
    ["fields[0].name", "required", null],
    ["fields[1].name", "required", null],
  ]);
  assert.deepEqual(problems({ fields: [{ name: "   " }, { name: "abcd", inline: 1 }, {}] }), [
    ["fields", "maxItems", 2],
    ["fields[0].name", "pattern", null],
    ["fields[1].name", "maxLength", 3],
    ["fields[1].inline", "type", null],
  ]);
});
