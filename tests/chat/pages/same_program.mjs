// Compares modules with their bundled form, using Node's own parser. Prints the names of the modules that
// parse differently. Standard input is {name: [source, bundled code]}.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { html } from "../../../src/svc/web/vendor/preact.js";

const { parse } = createRequire(import.meta.url)("internal/deps/acorn/acorn/dist/acorn");

/** Return the elements of a markup template. Each inserted expression is replaced by its syntax tree. */
function elements({ quasis, expressions }) {
  const statics = quasis.map(({ value }) => value.cooked);
  return html(statics, ...expressions.map((expression) => JSON.stringify(expression, withoutPlaces)));
}

function withoutPlaces(key, value) {
  if (key === "start" || key === "end") return undefined;
  if (typeof value === "bigint" || value instanceof RegExp) return String(value);
  if (value?.type === "TaggedTemplateExpression" && value.tag.name === "html")
    return { markup: elements(value.quasi) };
  // Preact's elements have further fields, such as a counter.
  const isElement = typeof value === "object" && value !== null && Object.hasOwn(value, "constructor");
  return isElement ? { element: value.type, props: value.props, key: value.key } : value;
}

/** Return the program without source positions and insignificant spaces in markup. */
function program(source) {
  const tree = parse(source, {
    ecmaVersion: "latest",
    sourceType: "module",
    allowReturnOutsideFunction: true,
  });
  const statements = tree.body.flatMap((statement) => {
    if (statement.type === "ExportNamedDeclaration")
      return statement.declaration ? [statement.declaration] : [];
    return statement.type === "ImportDeclaration" ? [] : [statement];
  });
  return JSON.stringify(statements, withoutPlaces);
}

for (const [name, [source, rest]] of Object.entries(JSON.parse(readFileSync(0, "utf8")))) {
  if (program(source) !== program(rest)) console.log(name);
}
