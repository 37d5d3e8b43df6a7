// Compares modules as they are written with what is left of them: prints the names of those that a parser reads
// differently. Node has a parser of its own. On standard input: {name: [source, rest]}.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const { parse } = createRequire(import.meta.url)("internal/deps/acorn/acorn/dist/acorn");

/** The program without places, and without what a template's text looks like in the source. */
function program(source) {
  const tree = parse(source, { ecmaVersion: "latest", sourceType: "module", allowReturnOutsideFunction: true });
  const statements = tree.body.flatMap((each) => {
    if (each.type === "ExportNamedDeclaration") return each.declaration ? [each.declaration] : [];
    return each.type === "ImportDeclaration" ? [] : [each];
  });
  return JSON.stringify(statements, (key, value) => {
    if (key === "start" || key === "end") return undefined;
    return typeof value === "bigint" || value instanceof RegExp ? String(value) : value;
  });
}

for (const [name, [source, rest]] of Object.entries(JSON.parse(readFileSync(0, "utf8")))) {
  if (program(source) !== program(rest)) console.log(name);
}
