// Renders Markdown blocks as elements. Inline content is rendered by inline.js. The text is untrusted, so it
// is never parsed as HTML, nothing is loaded from other sites, and links show their target.
//
// Headings are rendered as paragraphs that look like headings, because a message's headings do not belong in
// the page's outline.

import { html, useMemo } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Code } from "./code.js";
import { inlines } from "./inline.js";
import { parse } from "./parse.js";
import { isOnlyEmoji } from "./emoji_only.js";

/** @typedef {import("./parse.js").Node} Node */
/** @typedef {import("./context.js").Context} Context */

const MAX_DIGITS = 2; // Numbers with more digits do not fit in the usual margin of a list item.

const TASK = /^\[([ xX])\] /u;

/** @type {Context} */
const NOTHING = {};

/** @param {{text: string, context?: Context}} properties */
export function Markdown({ text, context = NOTHING }) {
  const root = useMemo(() => parse(text), [text]);
  return look(root, context);
}

/** Render a parsed message. @param {Node} root @param {Context} context @returns {any} */
export function look(root, context) {
  const large = isOnlyEmoji(root, context);
  return html`<div class=${large ? "markdown large" : "markdown"}>
    ${root.children.map((node) => block(node, context, "auto"))}
  </div>`;
}

/**
 * Render a block. Each top-level block detects its own text direction, and nested blocks inherit it.
 * @param {Node} node @param {Context} context @param {"auto"} [dir] @returns {any}
 */
function block(node, context, dir) {
  const { children, text = "" } = node;
  switch (node.type) {
    case "heading":
      return html`<p class="heading" data-level=${node.level} dir=${dir}>${inlines(children, context)}</p>`;
    case "small":
      return html`<p class="small" dir=${dir}>${inlines(children, context)}</p>`;
    case "quote":
      return html`<blockquote dir=${dir}>${blocks(children, context)}</blockquote>`;
    case "list":
      return list(node, context, dir);
    case "rule":
      return html`<hr />`;
    case "fence":
      return html`<${Code} code=${text} language=${node.language} />`;
    case "table":
      return table(node, context, dir);
    case "paragraph":
      return html`<p dir=${dir}>${inlines(children, context)}</p>`;
    default:
      return inlines([node], context);
  }
}

/** @param {Node[]} nodes @param {Context} context */
const blocks = (nodes, context) => nodes.map((node) => block(node, context));

/** @param {Node} node @param {Context} context @param {"auto"} [dir] */
function list({ start, children }, context, dir) {
  const entries = children.map((entry) => {
    const task = taskOf(entry);
    if (!task) return html`<li>${blocks(entry.children, context)}</li>`;
    return html`<li class="task">
      <span class="task-mark" role="img" aria-label=${t(task.done ? "markdown-done" : "markdown-to-do")}>
        ${task.done ? "☑" : "☐"}
      </span>${blocks(task.children, context)}
    </li>`;
  });
  if (start === undefined) return html`<ul dir=${dir}>${entries}</ul>`;
  const digits = String(start + children.length - 1).length;
  const style = digits > MAX_DIGITS ? { "--digits": digits } : undefined;
  return html`<ol start=${start} dir=${dir} style=${style}>${entries}</ol>`;
}

/**
 * Return a pair: whether a task list item is done, and its content after "[ ]" or "[x]". Return null for
 * other items.
 * @param {Node} entry
 */
function taskOf({ children: [first, ...rest] }) {
  const text = first?.type === "paragraph" ? first.children[0] : first;
  const match = text?.type === "text" ? TASK.exec(text.text ?? "") : null;
  if (!match) return null;
  const left = { ...text, text: (text.text ?? "").slice(match[0].length) };
  const begins =
    first.type === "paragraph" ? { ...first, children: [left, ...first.children.slice(1)] } : left;
  return { done: match[1] !== " ", children: [begins, ...rest] };
}

/**
 * Render a table. It is focusable, so that wide tables can be scrolled with the keyboard.
 * @param {Node} node
 * @param {Context} context
 * @param {"auto"} [dir]
 */
function table({ children: [head, ...rows] }, context, dir) {
  const cells = (/** @type {Node} */ row, /** @type {string} */ tag) =>
    html`<tr>
      ${row.children.map(
        (cell) =>
          html`<${tag} class=${cell.align} scope=${tag === "th" ? "col" : undefined}>
            ${inlines(cell.children, context)}
          </${tag}>`,
      )}
    </tr>`;
  return html`<div class="table" dir=${dir} tabindex="0" role="group" aria-label=${t("markdown-table")}>
    <table>
      <thead>${cells(head, "th")}</thead>
      <tbody>${rows.map((row) => cells(row, "td"))}</tbody>
    </table>
  </div>`;
}
