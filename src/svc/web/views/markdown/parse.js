// Parses Markdown into a tree of plain objects, which markdown.js renders. Does not use the DOM.
//
// The parser is the vendored markdown-it. It supports CommonMark, tables and strikethrough, and returns
// tokens instead of HTML. Of three candidates, only markdown-it is both small and fast on hostile text. It is
// 12 KB compressed without its HTML rules, and needs at most 35 ms for any hostile text of 4,000 characters.
// Micromark with mdast is 19 KB, needs 250 ms for nested lists, and writes HTML into an element when it
// loads. Marked is 15 KB, and nested quotes overflow its stack.

import { MarkdownIt } from "../../vendor/markdown-it.js";
import { addRules } from "./rules.js";

/**
 * @typedef {{type: string, children: Node[], text?: string, href?: string, level?: number, start?: number,
 *   language?: string, align?: string, ms?: number, style?: import("../parts/time.js").Style}} Node The root
 *   has the type root. Block types are paragraph, heading, small, quote, list (with `start` if numbered),
 *   entry, rule, fence, table, row, head and cell. Inline types are text, break, strong, underlined,
 *   emphasis, struck, spoiler, code, link, address, picture, emoji and time.
 */

const MAX_CHARACTERS = 8_000; // In UTF-16 code units, enough for 4,000 characters outside the BMP.
const DEEPEST = 24; // The nesting limit. Deeper elements are shown without formatting.
/** @type {Record<string, string>} */
const ALIGNMENTS = { "text-align:left": "start", "text-align:center": "center", "text-align:right": "end" };
/** @type {Record<string, string>} */
const TYPES = {
  paragraph: "paragraph",
  blockquote: "quote",
  bullet_list: "list",
  ordered_list: "list",
  list_item: "entry",
  hr: "rule",
  heading: "heading",
  table: "table",
  tr: "row",
  th: "head",
  td: "cell",
  strong: "strong",
  em: "emphasis",
  s: "struck",
  spoiler: "spoiler",
  link: "link",
  small: "small",
};
const PARTS = new Set(["thead", "tbody"]); // The tokens for which no node is created.
const TARGETS = /^(?:https?:\/\/|(?:mention|role|channel):[A-Za-z0-9_-]{1,128}$)/iu;
// The rules that do not apply to messages: indented code (poems are indented, too), HTML, and underlined
// headings. ci/vendor already removes them.
const NOT_OURS = ["code", "html_block", "lheading"];

const parser = made();

/** @param {string} text @returns {Node} */
export function parse(text) {
  if (text.length > MAX_CHARACTERS) return asWritten(text);
  const root = tree(parser.parse(text, {}));
  return showsSomething(root) ? root : asWritten(text);
}

function made() {
  const parser = new MarkdownIt({ maxNesting: 100 });
  parser.disable([...NOT_OURS, "reference"], true);
  parser.validateLink = (/** @type {string} */ target) => TARGETS.test(target);
  parser.normalizeLink = (/** @type {string} */ target) => target;
  addRules(parser, (name) => {
    const alone = new MarkdownIt("zero");
    alone.block.ruler.enableOnly([name]);
    return alone.block.ruler.getRules("")[0];
  });
  return parser;
}

/** @param {any[]} tokens @returns {Node} */
function tree(tokens) {
  const root = node("root");
  /** @type {(Node | null)[]} The open nodes, with null for tokens that have no node. */
  const open = [];
  let parent = root;
  for (const token of flat(tokens)) {
    if (token.nesting > 0) {
      const opened = beginning(token, open.length);
      open.push(opened && parent);
      if (!opened) continue;
      parent.children.push(opened);
      parent = opened;
    } else if (token.nesting < 0) {
      parent = open.pop() ?? parent;
    } else put(parent, leaf(token));
  }
  return root;
}

/** @param {any[]} tokens @returns {Generator<any>} */
function* flat(tokens) {
  for (const token of tokens) {
    if (token.type === "inline") yield* token.children;
    else yield token;
  }
}

/** @param {any} token @param {number} depth @returns {Node | null} */
function beginning(token, depth) {
  const name = token.type.replace(/_open$/u, "");
  if (PARTS.has(name) || token.hidden || depth > DEEPEST) return null;
  // In CommonMark, both "**" and "__" make text bold. Here, "__" underlines, as on Discord.
  const opened = node(token.markup === "__" ? "underlined" : TYPES[name]);
  if (name === "heading") opened.level = Number(token.tag[1]);
  if (name === "ordered_list") opened.start = Number(token.attrGet("start") ?? 1);
  if (name === "link") opened.href = token.attrGet("href") ?? "";
  const style = token.attrGet("style");
  if (style) opened.align = ALIGNMENTS[style];
  return opened;
}

/** @param {any} token @returns {Node} */
function leaf(token) {
  switch (token.type) {
    case "softbreak":
    case "hardbreak":
      return node("break");
    case "hr":
      return node("rule");
    case "code_inline":
      return node("code", { text: token.content });
    case "fence":
      return node("fence", {
        text: token.content.replace(/\n$/u, ""),
        language: token.info.trim().split(/\s/u)[0] ?? "",
      });
    case "picture":
      return node("picture", { text: token.content, href: token.meta.href });
    case "address":
      return node("address", { text: token.content, href: token.content });
    case "emoji":
      return node("emoji", { text: token.content });
    case "time":
      return node("time", { text: token.content, ...token.meta });
    default:
      return node("text", { text: token.content });
  }
}

/** @param {Node} parent @param {Node} added */
function put(parent, added) {
  const last = parent.children.at(-1);
  if (added.type === "text" && !added.text) return;
  if (added.type === "text" && last?.type === "text") last.text = (last.text ?? "") + added.text;
  else parent.children.push(added);
}

/** @param {string} type @param {Partial<Node>} [more] @returns {Node} */
function node(type, more = {}) {
  return { type, children: [], ...more };
}

/**
 * Return whether anything would be visible. A heading without text, such as a lone "#", is not.
 * @param {Node} root
 * @returns {boolean}
 */
function showsSomething({ type, text, children }) {
  return type === "rule" || type === "link" || Boolean(text?.trim()) || children.some(showsSomething);
}

/** @param {string} text @returns {Node} */
function asWritten(text) {
  const root = node("root");
  for (const paragraph of text.split(/(?:\r\n|\r|\n){2,}/u)) {
    const lines = paragraph
      .split(/\r\n|\r|\n/u)
      .flatMap((line, index) => [...(index ? [node("break")] : []), node("text", { text: line })]);
    root.children.push(node("paragraph", { children: lines }));
  }
  return root;
}
