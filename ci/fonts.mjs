// Writes the web client's font from the npm package @fontsource-variable/inter: one file for each range of
// characters below, with the weights in use. The browser loads a file when a character in the file's range is
// displayed. The Latin file must stay below 30 KB, because it is loaded with the first message. Run by
// ci/vendor: PACKAGE FOLDER.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import subsetFont from "subset-font";

const WEIGHTS = { min: 400, max: 700 };
// These ranges match `unicode-range` in style/font.css.
const RANGES = {
  latin:
    "20-7e a0-ff 131 152-153 2013-2014 2018-201a 201c-201e 2020-2022 2026 2030 2039-203a 20ac 2122 2190-2193 2212",
  "latin-ext": "100-130 132-151 154-17f 1e9e",
  greek: "370-377 37a-37f 384-38a 38c 38e-3a1 3a3-3ff",
  cyrillic: "400-45f 490-491 4b0-4b1 2116",
};

const [source, folder] = process.argv.slice(2);
for (const [name, ranges] of Object.entries(RANGES)) {
  const characters = ranges.split(" ").flatMap((range) => {
    const [first, last = first] = range.split("-").map((code) => Number.parseInt(code, 16));
    return Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at));
  });
  const font = readFileSync(join(source, "files", `inter-${name}-wght-normal.woff2`));
  const options = { targetFormat: "woff2", variationAxes: { wght: WEIGHTS } };
  writeFileSync(join(folder, `inter-${name}.woff2`), await subsetFont(font, characters.join(""), options));
}
