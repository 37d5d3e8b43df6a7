// Validates values against JSON Schema, limited to the keywords that our API descriptions use. Contains only
// pure functions.

/**
 * A JSON Schema (2020-12), limited to the keywords in use.
 * @typedef {{[keyword: string]: any}} Schema
 * @typedef {{path: string, keyword: string, limit: number | null}} Wrong
 */

/**
 * Return up to `maxProblems` errors: [{path, keyword, limit}]. A `path` looks like `cards[0].fields[1].name`.
 * @param {Schema} schema @param {any} value The value to validate. @param {object} root The document
 *   that `$ref` refers to.
 * @returns {Wrong[]}
 */
export function problemsIn(schema, value, root, path = "", maxProblems = 20) {
  if (schema.$ref) return problemsIn(target(root, schema.$ref), value, root, path, maxProblems);
  /** @type {Wrong[]} */
  const problems = [];
  const wrong = (/** @type {string} */ keyword, /** @type {number | null} */ limit = null, at = path) =>
    problems.push({ path: at, keyword, limit });
  const holds = (/** @type {Schema} */ alternative) =>
    problemsIn(alternative, value, root, path, 1).length === 0;
  if (schema.type && ![schema.type].flat().some((type) => isOf(type, value)))
    return [{ path, keyword: "type", limit: null }];
  if (schema.enum && !schema.enum.includes(value)) wrong("enum");
  if (schema.anyOf && !schema.anyOf.some(holds)) wrong("anyOf");
  if (schema.not && holds(schema.not)) wrong("not");
  for (const part of schema.allOf ?? []) problems.push(...problemsIn(part, value, root, path, maxProblems));
  if (typeof value === "string") ofText(schema, value, wrong);
  if (typeof value === "number") {
    if (value < schema.minimum) wrong("minimum", schema.minimum);
    if (value > schema.maximum) wrong("maximum", schema.maximum);
  }
  if (Array.isArray(value)) {
    if (value.length < schema.minItems) wrong("minItems", schema.minItems);
    if (value.length > schema.maxItems) wrong("maxItems", schema.maxItems);
    if (schema.items)
      for (const [index, item] of value.slice(0, schema.maxItems).entries())
        problems.push(...problemsIn(schema.items, item, root, `${path}[${index}]`, maxProblems));
  } else if (isOf("object", value)) {
    for (const key of schema.required ?? [])
      if (!Object.hasOwn(value, key)) wrong("required", null, below(path, key));
    for (const [key, property] of Object.entries(schema.properties ?? {}))
      if (Object.hasOwn(value, key))
        problems.push(...problemsIn(property, value[key], root, below(path, key), maxProblems));
  }
  return problems.slice(0, maxProblems);
}

/** @param {Schema} schema @param {string} value @param {(keyword: string, limit?: number) => void} wrong */
function ofText(schema, value, wrong) {
  const length = [...value].length;
  if (length < schema.minLength) wrong("required");
  else if (length > schema.maxLength) wrong("maxLength", schema.maxLength);
  else if (schema.pattern && !new RegExp(schema.pattern, "u").test(value)) wrong("pattern");
}

/** @param {string} path @param {string} key */
const below = (path, key) => (path ? `${path}.${key}` : key);
/** @param {object} root @param {string} reference @returns {Schema} */
const target = (root, reference) =>
  reference
    .replace("#/", "")
    .split("/")
    .reduce((node, key) => node[key], /** @type {any} */ (root));

/** @param {string} type @param {unknown} value */
function isOf(type, value) {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  return type === "integer" ? Number.isInteger(value) : typeof value === type;
}
