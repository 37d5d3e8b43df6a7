// Highlights code with the vendored highlight.js. Returns plain objects instead of HTML. Loaded on first use.

import { highlighter } from "../../vendor/highlight.js";

/** @typedef {string | {kind: string, children: Piece[]}} Piece */

const DEEPEST = 16;
// For some languages, the time is quadratic in the line length: 250 ms for 4,000 characters.
const MAX_LINE = 300;

/** A replacement for highlight.js's HTML emitter that collects tokens as objects. */
class Pieces {
  /** @type {Piece[]} */
  root = [];
  /** @type {Piece[][]} */
  #open = [this.root];

  get #place() {
    return this.#open[this.#open.length - 1];
  }

  /** @param {string} text */
  addText(text) {
    const last = this.#place.length - 1;
    if (typeof this.#place[last] === "string") this.#place[last] += text;
    else if (text) this.#place.push(text);
  }

  /** @param {string} scope */
  openNode(scope) {
    /** @type {Piece[]} */
    const children = this.#open.length > DEEPEST ? this.#place : [];
    if (children !== this.#place) this.#place.push({ kind: scope.split(".")[0], children });
    this.#open.push(children);
  }

  closeNode() {
    if (this.#open.length > 1) this.#open.pop();
  }

  /** Start a token, such as a keyword. @param {string} scope */
  startScope(scope) {
    this.openNode(scope);
  }

  endScope() {
    this.closeNode();
  }

  /** @param {Pieces} other */
  __addSublanguage(other) {
    this.#place.push(...other.root);
  }

  finalize() {
    this.#open.length = 1;
  }

  toHTML() {
    return "";
  }
}

highlighter.configure({ __emitter: Pieces });

/**
 * Return the highlighted code, or null if the language is unknown or a line is too long.
 * @param {string} code
 * @param {string} language
 * @returns {Piece[] | null}
 */
export function highlight(code, language) {
  if (!highlighter.getLanguage(language) || code.split("\n").some((line) => line.length > MAX_LINE))
    return null;
  const result = highlighter.highlight(code, { language, ignoreIllegals: true });
  return result.errorRaised ? null : /** @type {Pieces} */ (result._emitter).root;
}
