// Measures how long the web client takes to process 4,000 characters of each repeated pattern ("wall") in
// tests/web/hostile.json. Prints the slowest patterns first.
//
//     node benchmarks/markdown.mjs

import { readFileSync } from "node:fs";

import { highlight } from "../src/svc/web/views/markdown/highlight.js";
import { look } from "../src/svc/web/views/markdown/markdown.js";
import { parse } from "../src/svc/web/views/markdown/parse.js";
import { plain } from "../src/svc/web/views/markdown/plain_text.js";

const CHARACTERS = 4_000;
const TIMES = 5;
const SHOWN = 8;
const LANGUAGES = (
  "bash c cpp csharp css diff go ini java javascript json kotlin lua makefile markdown php powershell " +
  "python ruby rust sql swift typescript xml yaml"
).split(" ");
const { walls } = JSON.parse(readFileSync(new URL("../tests/web/hostile.json", import.meta.url), "utf8"));

/** Measure the first run, as in a fresh page, and the best run. */
function measured(work) {
  const times = Array.from({ length: TIMES }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return { first: times[0], best: Math.min(...times) };
}

function report(name, work) {
  const rows = walls
    .map((wall) => {
      const text = wall.repeat(Math.ceil(CHARACTERS / wall.length)).slice(0, CHARACTERS);
      return { wall, ...measured(() => work(text)) };
    })
    .sort((one, other) => other.best - one.best);
  console.log(`\n${name}: ms at best, ms the first time`);
  for (const { wall, best, first } of rows.slice(0, SHOWN))
    console.log(`${best.toFixed(1).padStart(7)} ${first.toFixed(1).padStart(7)}  ${JSON.stringify(wall)}`);
}

report("Shown", (text) => look(parse(text), {}));
report("One line", (text) => plain(text));
// The highlighter skips longer lines.
const inLines = (text) => text.match(/.{1,290}/gsu).join("\n");
for (const language of LANGUAGES) report(`Code in ${language}`, (text) => highlight(inLines(text), language));
