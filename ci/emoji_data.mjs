// Generates the emoji catalogues of the web client and the server from the npm package emojibase-data. In
// FOLDER, `signs.js` contains the picker's emoji, and one file per language contains their names in the same
// order. TABLE contains the same emoji for the server, with every skin tone and the names that other chat
// programs use. Run by ci/vendor: PACKAGE FOLDER TABLE.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const LANGUAGES = ["en", "de", "fr", "es", "ja"];
const COMPONENTS = 2; // The group of skin tones and hair styles, which are not emoji on their own.
const TONES = ["🏻", "🏼", "🏽", "🏾", "🏿"];
const MEDIUM = "🏽";

const [source, target, table] = process.argv.slice(2);
const read = (path) => JSON.parse(readFileSync(join(source, path), "utf8"));
const write = (name, rows) =>
  writeFileSync(
    join(target, name),
    `export default [\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n];\n`,
  );

/** Return an emoji as Unicode defines it. The package adds the selector for colour even if none is needed. */
function usual(sign) {
  const shorter = sign.replaceAll("\uFE0F", "");
  return /^\p{RGI_Emoji}$/v.test(shorter) ? shorter : sign;
}

/** Return the emoji in the medium tone, from which the other tones are derived, or "" if it has no tones. */
function toned({ unicode, skins = [] }) {
  if (!skins.length) return "";
  const signs = new Set(skins.map((skin) => usual(skin.unicode)));
  const [medium] = [...signs].filter((sign) =>
    TONES.every((tone) => sign.includes(tone) === (tone === MEDIUM)),
  );
  const all = TONES.map((tone) => medium.replaceAll(MEDIUM, tone));
  if (!all.every((sign) => signs.has(sign))) throw new Error(`The tones of ${unicode} are not as expected`);
  return medium;
}

const shown = (all) => all.filter(({ group }) => group !== undefined && group !== COMPONENTS);
const signs = shown(read("en/compact.json")).sort((one, other) => one.order - other.order);
const usualNames = read("en/shortcodes/github.json");
const otherNames = read("en/shortcodes/emojibase.json");
const list = (names = []) => [names].flat();

/** Return the names of each emoji. Where two emoji share a name, GitHub's and Slack's usage wins. */
function namesOfAll() {
  const sets = ["github", "iamcal", "emojibase", "joypixels"].map((name) =>
    read(`en/shortcodes/${name}.json`),
  );
  const owners = new Map();
  for (const set of sets)
    for (const { hexcode } of signs)
      for (const name of list(set[hexcode])) if (!owners.has(name)) owners.set(name, hexcode);
  const names = new Map(signs.map(({ hexcode }) => [hexcode, []]));
  for (const [name, hexcode] of owners) names.get(hexcode).push(name);
  return names;
}

mkdirSync(target, { recursive: true });
// [emoji, group, emoji in the medium tone or "", names as in :name:, the usual name first]
write(
  "signs.js",
  signs.map((each) => {
    const names = new Set([...list(usualNames[each.hexcode]), ...list(otherNames[each.hexcode])]);
    return [usual(each.unicode), each.group, toned(each), [...names].join(" ")];
  }),
);
for (const language of LANGUAGES) {
  const words = new Map(read(`${language}/compact.json`).map((each) => [each.hexcode, each]));
  // [the emoji's label, additional search words]
  write(
    `${language}.js`,
    signs.map(({ hexcode }) => {
      const { label, tags = [] } = words.get(hexcode);
      return [label, tags.filter((tag) => tag !== label).join(" ")];
    }),
  );
}

const names = namesOfAll();
// One line per emoji: the emoji, its names, and the emoji in each skin tone from light to dark, separated by
// tabs and spaces.
writeFileSync(
  table,
  signs
    .map(
      ({ unicode, hexcode, skins = [] }) =>
        `${[
          usual(unicode),
          names.get(hexcode).join(" "),
          skins.map((skin) => usual(skin.unicode)).join(" "),
        ].join("\t")}\n`,
    )
    .join(""),
);
