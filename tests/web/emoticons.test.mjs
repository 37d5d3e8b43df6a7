// Tests that emoticons become emoji if they stand alone, but never in code.

import assert from "node:assert/strict";
import { test } from "node:test";

import { finished, withEmoji } from "../../src/svc/web/state/emoticons.js";

test("a separate emoticon becomes an emoji", () => {
  const cases = [
    [":)", "🙂"],
    ["hi :)", "hi 🙂"],
    [":D so ;) and <3", "😄 so 😉 and ❤️"],
    ["one\n:P\ntwo", "one\n😛\ntwo"],
    [":'( >:(", "😢 😠"],
  ];
  for (const [text, done] of cases) assert.equal(withEmoji(text), done, text);
});

test("a word that only contains an emoticon stays unchanged", () => {
  for (const text of [
    "see:)",
    "a:D",
    "(look at this :))",
    "http://a.example",
    "https://b",
    ":tada:",
    "10:30",
    "constructor",
    "x <3y",
    ":D!",
    "|:)|",
  ]) {
    assert.equal(withEmoji(text), text, text);
  }
});

test("code is not changed", () => {
  for (const text of [
    "`:)`",
    "` :) `",
    "`` a ` :) ``",
    "```\n:)\n```",
    "```js\n :D \n",
    "~~~\n:(\n~~~",
    "a ` :) b",
  ])
    assert.equal(withEmoji(text), text, text);
  assert.equal(withEmoji("` :) ` :) ` :( `"), "` :) ` 🙂 ` :( `");
  assert.equal(withEmoji("```\n:)\n```\n:)"), "```\n:)\n```\n🙂");
});

test("a space completes an emoticon", () => {
  const at = (text) => finished(text.replace("¦", ""), text.indexOf("¦"));
  assert.deepEqual(at("hi :) ¦you"), { start: 3, end: 5, emoji: "🙂" });
  assert.deepEqual(at(":( ¦"), { start: 0, end: 2, emoji: "🙁" });
  for (const text of ["hi:) ¦", "hi :)¦", "` :) ¦", "```\n:) ¦", "a b ¦", "¦"])
    assert.equal(at(text), null, text);
});
