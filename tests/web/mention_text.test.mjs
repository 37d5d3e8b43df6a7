import assert from "node:assert/strict";
import test from "node:test";

import { isNamed, restored, shortened } from "../../src/svc/web/state/mention_text.js";

test("a mention is shown as a name while it is edited, and then restored", () => {
  for (const [markdown, shown] of [
    ["hi [Ada](mention:1) and [mods](role:m) in [general](channel:g)!", "hi @Ada and @mods in #general!"],
    ["[Ada Lovelace](mention:1) [Ada](mention:2)", "@Ada Lovelace @Ada"],
    ["[everyone](mention:everyone)", "@everyone"],
    ["[@Ada](mention:1)", "@Ada"],
    ["[a\\*b\\[c\\]](mention:1), [d.e?](mention:2)", "@a*b[c], @d.e?"],
    ["こんにちは[太郎](mention:1)さん", "こんにちは@太郎さん"],
    ["[🌱 Ada](mention:1)", "@🌱 Ada"],
    ["nothing [here](https://a.example)", "nothing [here](https://a.example)"],
  ]) {
    const names = new Map();
    assert.equal(shortened(markdown, names), shown);
    assert.equal(restored(shown, names), markdown);
  }
});

test("an ambiguous mention stays in its source form", () => {
  for (const markdown of ["x[Ada](mention:1)", "[Ada](mention:1)x", "@Ada and [Ada](mention:1)"]) {
    assert.equal(shortened(markdown, new Map()), markdown);
  }
  assert.equal(shortened("[Ada](mention:1) [Ada](mention:2)", new Map()), "@Ada [Ada](mention:2)");
});

test("a chosen name becomes the same mention everywhere in the text", () => {
  const names = new Map();
  shortened("[Ada](mention:1)", names);
  assert.equal(
    restored("@Ada, @Adam, a@Ada https://a.example/@Ada \\@Ada", names),
    "[Ada](mention:1), @Adam, a@Ada https://a.example/@Ada \\@Ada",
  );
  assert.equal(restored("@Ada", new Map()), "@Ada");
});

test("nothing is completed after an inserted name", () => {
  const names = new Map([["@Ada", "[Ada](mention:1)"]]);
  assert.equal(isNamed("hi @Ada there", 3, 8, names), true);
  assert.equal(isNamed("hi @Ada", 3, 7, names), true);
  assert.equal(isNamed("hi @Ad", 3, 6, names), false);
  assert.equal(isNamed("hi @Adam", 3, 8, names), false);
  assert.equal(isNamed("hi @Grace", 3, 9, names), false);
});
