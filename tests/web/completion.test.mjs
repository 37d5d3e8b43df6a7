// Tests completion, which finds the word at the caret, suggests candidates, and inserts the chosen candidate.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { candidates, complete, completing, meant } from "../../src/svc/web/state/completion.js";
import { foldCase, matching } from "../../src/svc/web/state/name_search.js";
import { escaped } from "../../src/svc/web/state/mention_text.js";
import { targetOf } from "../../src/svc/web/views/markdown/context.js";
import { parse } from "../../src/svc/web/views/markdown/parse.js";

const { names } = JSON.parse(readFileSync(new URL("hostile.json", import.meta.url), "utf8"));
const items = (...all) => all.map((name) => ({ id: `id-${name}`.replace(/[^A-Za-z0-9_-]/gu, "-"), name }));
const SOURCES = {
  members: items("Ada Lovelace", "Grace Hopper", "Adam", "Ramada", "Élodie", "Jürgen", "Søren", "山田 太郎"),
  roles: items("Admins", "Readers"),
  channels: items("general", "random", "ada-talk"),
  mayMentionGroups: true,
  findEmoji: (prefix, limit) =>
    [
      { name: "tada", url: "/media/tada" },
      { name: "thumbs_up", character: "👍" },
    ]
      .filter(({ name }) => name.startsWith(prefix))
      .slice(0, limit),
};
/** Return the word to complete in a text that marks the caret with a vertical bar. */
const queryAt = (text) => completing(text.replace("¦", ""), text.indexOf("¦"));
const offered = (text, sources = SOURCES) => candidates(queryAt(text), sources).map(({ name }) => name);
const chosen = (text, index = 0, sources = SOURCES) => {
  const plain = text.replace("¦", "");
  const what = queryAt(text);
  const result = complete(plain, what, candidates(what, sources)[index]);
  return `${result.text.slice(0, result.caret)}¦${result.text.slice(result.caret)}`;
};

test("a trigger character at the start of a word starts a completion", () => {
  const cases = [
    ["@¦", "@", ""],
    ["hi @ad¦", "@", "ad"],
    ["(@ad¦)", "@", "ad"],
    ["@ada lo¦", "@", "ada lo"],
    ["#gen¦", "#", "gen"],
    [":ta¦", ":", "ta"],
    ["one\n@a¦ b", "@", "a"],
    ['"@a¦', "@", "a"],
    ["見て@a¦", "@", "a"],
    ["**@a¦", "@", "a"],
  ];
  for (const [text, sign, query] of cases) {
    const result = queryAt(text);
    assert.deepEqual([result?.sign, result?.query], [sign, query], text);
  }
});

test("other characters do not start a completion", () => {
  for (const text of [
    "a@b¦",
    "a@b.example¦",
    "@ a¦",
    "# Heading¦",
    "C#¦",
    "https:¦",
    "https://a¦",
    "10:30¦",
    ":)¦",
    ":a¦",
    ": ab¦",
    "@a\nb¦",
    "\\@a¦",
    "a#b¦",
    "[x](mention:abc¦",
    "[Ada](mention:abc) te¦",
    "/a:bc¦",
    `@${"a".repeat(60)}¦`,
  ]) {
    assert.equal(queryAt(text), null, text);
  }
});

test("nothing is completed in code", () => {
  for (const text of ["`@a¦", "a `b` `@a¦", "```\n@a¦", "```js\nx\n@a¦", "~~~\n:ab¦"])
    assert.equal(queryAt(text), null, text);
  for (const text of ["`b` @a¦", "```\nx\n```\n@a¦", "\\` @a¦"]) assert.notEqual(queryAt(text), null, text);
});

test("prefixes come first, then starts of words, then other matches", () => {
  assert.deepEqual(offered("@ad¦"), ["Ada Lovelace", "Adam", "Admins", "Ramada", "Readers"]);
  assert.deepEqual(offered("@lo¦"), ["Ada Lovelace", "Élodie"]);
  assert.deepEqual(offered("#ra¦"), ["random", "general"]);
  assert.deepEqual(offered("#ta¦"), ["ada-talk"]);
});

test("case and accents make no difference", () => {
  for (const [text, name] of [
    ["@ELO¦", "Élodie"],
    ["@élo¦", "Élodie"],
    ["@jur¦", "Jürgen"],
    ["@sor¦", "Søren"],
    ["@山¦", "山田 太郎"],
    ["@ａｄａｍ¦", "Adam"],
  ]) {
    assert.equal(offered(text)[0], name, text);
  }
  assert.equal(foldCase("Straße"), "strasse");
  assert.equal(foldCase("ΟΔΟΣ"), foldCase("οδος"));
  assert.equal(foldCase("كِتَابٌ"), foldCase("كتاب"));
  assert.equal(foldCase("❤️"), foldCase("❤"));
});

test("a completed name that is followed by text has no completions", () => {
  assert.deepEqual(offered("@ada l¦"), ["Ada Lovelace"]);
  assert.deepEqual(offered("@ada said¦"), []);
  assert.deepEqual(offered("@grace hopper ¦"), []);
});

test("groups and roles are offered to members who may mention them", () => {
  assert.deepEqual(offered("@every¦"), ["everyone"]);
  assert.deepEqual(offered("@he¦"), ["here"]);
  for (const text of ["@every¦", "@he¦", "@admins¦"])
    assert.deepEqual(offered(text, { ...SOURCES, mayMentionGroups: false }), [], text);
});

test("the trigger character alone offers people, then roles and groups", () => {
  const sources = { members: items("Zoe", "Ada"), roles: items("Admins"), mayMentionGroups: true };
  assert.deepEqual(offered("@¦", sources), ["Ada", "Zoe", "Admins", "everyone", "here"]);
});

test("the number of completions is limited, and there are none without sources", () => {
  assert.equal(candidates(queryAt("@¦"), SOURCES, 3).length, 3);
  for (const text of ["@a¦", "#a¦", ":ab¦"]) assert.deepEqual(candidates(queryAt(text), {}), [], text);
});

test("the chosen completion is inserted with the caret after it", () => {
  assert.equal(chosen("hi @ad¦"), "hi [Ada Lovelace](mention:id-Ada-Lovelace) ¦");
  assert.equal(chosen("hi @ad¦ there"), "hi [Ada Lovelace](mention:id-Ada-Lovelace) ¦there");
  assert.equal(chosen("@admi¦!"), "[Admins](role:id-Admins) ¦!");
  assert.equal(chosen("@every¦"), "[everyone](mention:everyone) ¦");
  assert.equal(chosen("#gen¦"), "[general](channel:id-general) ¦");
  assert.equal(chosen(":ta¦"), ":tada: ¦");
  assert.equal(chosen(":th¦"), "👍 ¦");
});

test("a name with Markdown characters is shown literally", () => {
  for (const name of names) {
    const text = `hi [${escaped(name)}](mention:abc) there`;
    const [paragraph] = parse(text).children;
    assert.deepEqual(
      paragraph.children.map(({ type }) => type),
      ["text", "link", "text"],
      name,
    );
    const label = targetOf(paragraph.children[1], {}).name;
    assert.equal(label, name.replace(/\s+/gu, " ").replace(/^[@#]/u, ""), name);
  }
});

test("the best matches among thousands of names are found", () => {
  const many = Array.from({ length: 10_000 }, (_, index) => ({ id: String(index), name: `Member ${index}` }));
  assert.deepEqual(
    matching(many, "99", ({ name }) => name, 2).map(({ name }) => name),
    ["Member 99", "Member 990"],
  );
});

test("names that are written out become mentions, unless they are ambiguous", () => {
  const sources = {
    ...SOURCES,
    members: [...SOURCES.members, ...items("ada", "Twin")],
    roles: items("Twin", "Admins"),
  };
  const cases = [
    ["@Jürgen, hi", "[Jürgen](mention:id-J-rgen), hi"],
    ["@ada lovelace and @ADA", "[Ada Lovelace](mention:id-Ada-Lovelace) and [ada](mention:id-ada)"],
    [
      "(@Adam) #general @here",
      "([Adam](mention:id-Adam)) [general](channel:id-general) [here](mention:here)",
    ],
    ["@Twin @Adams a@adam.example \\@Adam", null],
    ["`@Adam` [see @Adam](https://a.example) <https://a.example/@Adam>\n```\n@Adam\n```", null],
    ["[Adam](mention:id-Adam) @nobody", null],
  ];
  for (const [text, expected] of cases) assert.equal(meant(text, sources), expected ?? text);
  const emoji = { ...sources, emojiNamed: (name) => ({ thumbs_up: "👍", 100: "💯" })[name] };
  const written = [
    ["Good :thumbs_up: @Adam", "Good 👍 [Adam](mention:id-Adam)"],
    [":thumbs_up::100:", "👍💯"],
    [
      ":nobody: 1:100:5 `:thumbs_up:` [a :100: b](https://a.example) :thumbs_up:x \\:100: " +
        "https://a.example/:100:",
      null,
    ],
  ];
  for (const [text, expected] of written) assert.equal(meant(text, emoji), expected ?? text);
  assert.equal(meant(":thumbs_up:", sources), ":thumbs_up:");
  assert.equal(
    meant("@here @Admins @Adam", { ...sources, mayMentionGroups: false }),
    "@here @Admins [Adam](mention:id-Adam)",
  );
});
