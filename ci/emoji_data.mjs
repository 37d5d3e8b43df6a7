// Writes the emoji that people choose from, out of the npm package emojibase-data: `signs.js`, what they are, and
// one file a language with what they are called, in the same order. Run by ci/vendor: PACKAGE FOLDER.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const LANGUAGES = ["en", "de", "fr", "es", "ja"];
const COMPONENTS = 2; // The group of skin tones and hair, which are no emoji of their own.
const TONES = ["🏻", "🏼", "🏽", "🏾", "🏿"];
const MEDIUM = "🏽";

const [source, target] = process.argv.slice(2);
const read = (path) => JSON.parse(readFileSync(join(source, path), "utf8"));
const write = (name, rows) =>
  writeFileSync(join(target, name), `export default [\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n];\n`);

/** As Unicode writes it; the package asks for the coloured look also where that is the only one. */
function usual(sign) {
  const shorter = sign.replaceAll("\uFE0F", "");
  return /^\p{RGI_Emoji}$/v.test(shorter) ? shorter : sign;
}

/** The sign in the medium tone, of which the others are made; "" where it has none. */
function toned({ unicode, skins = [] }) {
  if (!skins.length) return "";
  const signs = new Set(skins.map((skin) => usual(skin.unicode)));
  const [medium] = [...signs].filter((sign) => TONES.every((tone) => sign.includes(tone) === (tone === MEDIUM)));
  const all = TONES.map((tone) => medium.replaceAll(MEDIUM, tone));
  if (!all.every((sign) => signs.has(sign))) throw new Error(`The tones of ${unicode} are not as expected`);
  return medium;
}

const shown = (all) => all.filter(({ group }) => group !== undefined && group !== COMPONENTS);
const signs = shown(read("en/compact.json")).sort((one, other) => one.order - other.order);
const usualNames = read("en/shortcodes/github.json");
const otherNames = read("en/shortcodes/emojibase.json");
const list = (names = []) => [names].flat();

mkdirSync(target, { recursive: true });
// [sign, group, sign in the medium tone or "", names as in :name:, the usual first]
write("signs.js", signs.map((each) => {
  const names = new Set([...list(usualNames[each.hexcode]), ...list(otherNames[each.hexcode])]);
  return [usual(each.unicode), each.group, toned(each), [...names].join(" ")];
}));
for (const language of LANGUAGES) {
  const words = new Map(read(`${language}/compact.json`).map((each) => [each.hexcode, each]));
  // [what it is called, more words to find it by]
  write(`${language}.js`, signs.map(({ hexcode }) => {
    const { label, tags = [] } = words.get(hexcode);
    return [label, tags.filter((tag) => tag !== label).join(" ")];
  }));
}
