// Tests that code is highlighted without changing its text.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { highlight } from "../../src/svc/web/views/markdown/highlight.js";

const HOSTILE = JSON.parse(readFileSync(new URL("hostile.json", import.meta.url), "utf8"));
const textOf = (pieces) =>
  pieces.map((piece) => (typeof piece === "string" ? piece : textOf(piece.children))).join("");
const kinds = (pieces) =>
  pieces.flatMap((piece) => (typeof piece === "string" ? [] : [piece.kind, ...kinds(piece.children)]));

test("the tokens of a language are distinguished", () => {
  assert.deepEqual(kinds(highlight("const a = 'x'; // y", "js")), ["keyword", "string", "comment"]);
  assert.deepEqual(kinds(highlight("def f(): return 1", "python")), [
    "keyword",
    "title",
    "keyword",
    "number",
  ]);
});

test("an embedded language is highlighted too", () => {
  assert.ok(kinds(highlight("<script>const a = 1;</script>", "html")).includes("number"));
});

test("unknown languages and very long lines are not highlighted", () => {
  for (const name of ["", "nothing", "constructor", "__proto__", '"><img>'])
    assert.equal(highlight("a", name), null, name);
  assert.equal(highlight("a".repeat(4_000), "java"), null);
});

test("hostile code is shown unchanged", () => {
  for (const text of [...HOSTILE.markdown, ...HOSTILE.walls.map((wall) => wall.repeat(20))]) {
    for (const language of ["js", "html", "markdown", "bash", "yaml"]) {
      const pieces = highlight(text, language);
      if (pieces) assert.equal(textOf(pieces), text, language);
      for (const kind of kinds(pieces ?? [])) assert.match(kind, /^[\w-]+$/u);
    }
  }
});
