// Tests the search for emoji by their names in the user's language, and the arrow keys in the picker.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  catalogue,
  find,
  inTone,
  load,
  ownItems,
  search,
} from "../../src/svc/web/views/emoji/emoji_catalogue.js";
import { firstFrom, laidOut, moved } from "../../src/svc/web/views/emoji/rows.js";
import { countSigns } from "../../src/svc/web/views/markdown/emoji_only.js";

const OWN = new Map([
  ["tada", { url: "/media/tada" }],
  ["thumbs_down_hard", { url: "/media/down" }],
]);
const before = find("grin", OWN, 5);
await load("en");
const all = catalogue.value;
const by = (sign) => all.find((emoji) => emoji.sign === sign);
const signs = (query, own = new Map()) => search(query, ownItems(own), all).map(({ sign }) => sign);

test("until the catalogue has been loaded, only custom emoji exist", () => {
  assert.deepEqual(before, []);
});

test("every entry is one emoji with a name and a label", () => {
  assert.ok(all.length > 1_800);
  for (const { sign, name, label, toned } of all) {
    assert.equal(countSigns(sign), 1, sign);
    if (toned) assert.equal(countSigns(toned), 1, toned);
    assert.match(name, /^[a-z0-9_+-]+$/u, sign);
    assert.ok(label, sign);
  }
  assert.equal(new Set(all.map(({ sign }) => sign)).size, all.length);
});

test("emoji are written in their Unicode form", () => {
  for (const sign of ["✊", "⛲", "❤️", "1️⃣", "👁️‍🗨️", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"]) assert.ok(by(sign), sign);
});

test("names rank before labels, and labels before keywords", () => {
  assert.equal(signs("tada")[0], "🎉");
  assert.equal(signs("thumbs up")[0], "👍");
  assert.equal(signs(":+1:")[0], "👍");
  assert.ok(signs("celebrate").includes("🎉"));
  assert.ok(signs("GRINNING").includes("😀"));
  assert.deepEqual(signs("no such thing"), []);
  assert.deepEqual(signs("  "), []);
});

test("custom emoji come first", () => {
  assert.deepEqual(signs("tada", OWN).slice(0, 2), [":tada:", "🎉"]);
  assert.deepEqual(signs("thumbs", OWN)[0], ":thumbs_down_hard:");
  assert.deepEqual(
    find("tad", OWN, 2).map(({ character, url }) => character ?? url),
    ["/media/tada", "🎉"],
  );
});

test("a prefix matches a few emoji, which have the chosen skin tone", () => {
  assert.deepEqual(
    find("thumbsu", new Map(), 5, 3).map(({ character }) => character),
    ["👍🏽"],
  );
  assert.equal(find("s", new Map(), 4).length, 4);
});

test("only emoji that support skin tones get a skin tone", () => {
  assert.equal(inTone(by("👋"), 0), "👋");
  assert.equal(inTone(by("👋"), 1), "👋🏻");
  assert.equal(inTone(by("🧑‍🤝‍🧑"), 5), "🧑🏿‍🤝‍🧑🏿");
  assert.equal(inTone(by("🎉"), 5), "🎉");
});

test("each language has words for every emoji", async () => {
  for (const language of ["en", "de", "fr", "es", "ja"]) {
    const { default: words } = await import(`../../src/svc/web/vendor/emoji/${language}.js`);
    assert.equal(words.length, all.length);
    for (const [label] of words) assert.ok(label);
  }
});

const sections = (...counts) =>
  counts.map((count, index) => ({
    id: String(index),
    label: "",
    items: Array.from({ length: count }, (_, at) => ({ sign: `${index}-${at}`, label: "", name: "" })),
  }));
const rows = laidOut(sections(5, 0, 2, 4), 3);
// The rows are: head, 0-0 0-1 0-2, 0-3 0-4, head, 2-0 2-1, head, 3-0 3-1 3-2, 3-3.
const at = (sign) => {
  const row = rows.findIndex(({ items }) => items.some((item) => item.sign === sign));
  return { row, column: rows[row].items.findIndex((item) => item.sign === sign) };
};
const to = (sign, key) => {
  const position = moved(rows, at(sign), key);
  return position && rows[position.row].items[position.column].sign;
};

test("rows fill the width, under headings of non-empty groups", () => {
  assert.deepEqual(
    rows.map(({ head, items }) => head?.id ?? items.length),
    ["0", 3, 2, "2", 2, "3", 3, 1],
  );
  assert.deepEqual(firstFrom(rows), { row: 1, column: 0 });
  assert.deepEqual(firstFrom(rows, 3), { row: 4, column: 0 });
  assert.deepEqual(firstFrom([]), { row: 0, column: 0 });
});

test("the arrow keys skip headings and stop at the ends", () => {
  for (const [from, key, end] of [
    ["0-0", "ArrowRight", "0-1"],
    ["0-2", "ArrowRight", "0-3"],
    ["0-4", "ArrowRight", "2-0"],
    ["3-3", "ArrowRight", "3-3"],
    ["0-3", "ArrowLeft", "0-2"],
    ["0-0", "ArrowLeft", "0-0"],
    ["0-2", "ArrowDown", "0-4"],
    ["0-4", "ArrowDown", "2-1"],
    ["3-2", "ArrowDown", "3-3"],
    ["3-3", "ArrowDown", "3-3"],
    ["3-2", "ArrowUp", "2-1"],
    ["0-1", "ArrowUp", null],
    ["3-1", "Home", "3-0"],
    ["3-0", "End", "3-2"],
    ["0-0", "PageDown", "3-3"],
    ["3-3", "PageUp", "0-0"],
    ["0-0", "x", null],
  ]) {
    assert.equal(to(from, key), end, `${from} ${key}`);
  }
});
