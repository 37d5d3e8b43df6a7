// Converts Markdown to one line of plain text, for quotes, notifications and titles. Spoilers stay hidden.

import { timeAs } from "../parts/time.js";
import { mentionText, targetOf } from "./context.js";
import { parse } from "./parse.js";

/** @typedef {import("./parse.js").Node} Node */
/** @typedef {import("./context.js").Context} Context */

const HIDDEN = "▒▒▒";
const BLOCKS = new Set([
  "paragraph",
  "heading",
  "small",
  "quote",
  "list",
  "entry",
  "fence",
  "table",
  "row",
  "head",
  "cell",
  "rule",
]);

/** @param {string} text @param {Context} [context] */
export function plain(text, context = {}) {
  return words(parse(text).children, context).replace(/\s+/gu, " ").trim();
}

/** @param {Node[]} nodes @param {Context} context @returns {string} */
function words(nodes, context) {
  return nodes
    .map((node) => (BLOCKS.has(node.type) ? ` ${word(node, context)} ` : word(node, context)))
    .join("");
}

/** @param {Node} node @param {Context} context */
function word(node, context) {
  const { type, text = "", children } = node;
  if (type === "break") return " ";
  if (type === "spoiler") return HIDDEN;
  if (type === "emoji") return `:${text}:`;
  if (type === "time") return timeAs(node.style ?? "long", node.ms ?? 0);
  const target = type === "link" && targetOf(node, context);
  return target ? mentionText(target) : text || words(children, context);
}
