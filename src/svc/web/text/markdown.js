// Markdown as messages have it: bold, italic, struck out, code, links and mentions; nothing else is
// special. Builds nodes, never HTML, so that whatever somebody writes stays text. CommonMark 0.31
// where it goes: sections 2.4, 4.5, 6.1, 6.2, 6.3, and 6.5 with bare addresses too.

import { link, make, webAddress } from "./dom.js";

const FENCE = /^ {0,3}(?<fence>`{3,}|~{3,})(?<info>.*)$/u;
const ESCAPED = /^\\([!-/:-@[-`{-~])/u;
// What opens and closes alike, the longer before its own beginning.
const SPANS = [["**", "strong"], ["__", "strong"], ["~~", "s"], ["*", "em"], ["_", "em"]];
const MENTION = /^mention:([A-Za-z0-9_-]{1,128})$/u;
const TARGET = /^\(\s*(?:<([^<>\s]*)>|((?:[^\s<>()]|\([^\s<>()]*\))*))(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/u;
const BARE = /^https?:\/\/[^\s<>]+/u;
const ANGLED = /^<(https?:\/\/[^\s<>]+)>/u;
const MOST_DEEP = 8; // Nobody nests further; whoever does sees the signs themselves.
const MOST_TARGET = 2_500; // Characters: the longest address, and a title.
const MOST_BRACKETS = 32; // Within each other, in a label.
const WORD = /[\p{L}\p{N}]/u;

/** What `text` looks like. Mentions of `ownId` are marked as one's own. */
export function markdown(text, ownId = null) {
  const fragment = document.createDocumentFragment();
  for (const { code, lines } of blocks(text)) {
    if (code) fragment.append(make("pre", { tabIndex: 0 }, make("code", { textContent: lines.join("\n") })));
    else fragment.append(make("p", {}, ...new Inline(lines.join("\n"), ownId).nodes()));
  }
  return fragment;
}

/** Blocks of code between fences, and paragraphs between empty lines. */
function* blocks(text) {
  let block = { code: false, lines: [], fence: "" };
  for (const line of text.split(/\r\n|\r|\n/u)) {
    const found = FENCE.exec(line)?.groups;
    if (block.code) {
      if (found?.fence.startsWith(block.fence) && !found.info.trim()) {
        yield block;
        block = { code: false, lines: [], fence: "" };
      } else block.lines.push(line);
    } else if (found && !(found.fence[0] === "`" && found.info.includes("`"))) {
      if (block.lines.length) yield block;
      block = { code: true, lines: [], fence: found.fence };
    } else if (!line.trim()) {
      if (block.lines.length) yield block;
      block = { code: false, lines: [], fence: "" };
    } else block.lines.push(line);
  }
  if (block.code || block.lines.length) yield block;
}

/** One paragraph, or the inside of something in one. */
class Inline {
  #text; #ownId; #depth; #inLink; #at = 0; #plain = ""; #nodes = [];
  // Signs that nothing closes from here on: not looked for again, or a wall of stars takes long.
  #unclosed = new Set();

  constructor(text, ownId, depth = 0, inLink = false) {
    this.#text = text;
    this.#ownId = ownId;
    this.#depth = depth;
    this.#inLink = inLink;
  }

  nodes() {
    while (this.#at < this.#text.length) {
      if (!(this.#escape() || this.#code() || this.#bracket() || this.#span() || this.#address())) {
        this.#plain += this.#text[this.#at++];
      }
    }
    this.#flush();
    return this.#nodes;
  }

  get #rest() {
    return this.#text.slice(this.#at);
  }

  #escape() {
    if (this.#text[this.#at] !== "\\") return false;
    const found = ESCAPED.exec(this.#text.slice(this.#at, this.#at + 2));
    if (!found) return false;
    this.#plain += found[1];
    this.#at += 2;
    return true;
  }

  #code() {
    if (this.#text[this.#at] !== "`") return false;
    const end = afterCode(this.#text, this.#at);
    const ticks = ticksAt(this.#text, this.#at);
    if (end === null) {
      this.#plain += "`".repeat(ticks);
      this.#at += ticks;
      return true;
    }
    const inner = this.#text.slice(this.#at + ticks, end - ticks).replaceAll("\n", " ");
    const padded = inner.startsWith(" ") && inner.endsWith(" ") && inner.trim();
    return this.#put(make("code", { textContent: padded ? inner.slice(1, -1) : inner }), end);
  }

  /** A link or a mention. Pictures are not shown, and their addresses are no links. */
  #bracket() {
    if (this.#text.startsWith("![", this.#at)) {
      this.#plain += "![";
      this.#at += 2;
      return true;
    }
    if (this.#text[this.#at] !== "[" || this.#inLink) return false;
    const close = closingBracket(this.#text, this.#at);
    if (close === null) return false;
    const found = TARGET.exec(this.#text.slice(close + 1, close + 1 + MOST_TARGET));
    if (!found) return false;
    const target = found[1] ?? found[2];
    const end = close + 1 + found[0].length;
    const label = this.#text.slice(this.#at + 1, close);
    const [, memberId] = MENTION.exec(target) ?? [];
    if (memberId) {
      const own = memberId === this.#ownId;
      return this.#put(make("span", { className: own ? "mention own" : "mention" }, label.startsWith("@") ? "" : "@", ...this.#inside(label, true)), end);
    }
    if (webAddress(target) === null) return false;
    return this.#put(link(target, {}, ...this.#inside(label, true)), end);
  }

  #span() {
    if (!"*_~".includes(this.#text[this.#at]) || this.#depth >= MOST_DEEP) return false;
    for (const [sign, tag] of SPANS) {
      if (!this.#text.startsWith(sign, this.#at) || this.#unclosed.has(sign) || !opens(this.#text, this.#at, sign)) continue;
      const end = closingSign(this.#text, this.#at + sign.length, sign);
      if (end === null) {
        this.#unclosed.add(sign);
        continue;
      }
      const inner = this.#text.slice(this.#at + sign.length, end);
      return this.#put(make(tag, {}, ...this.#inside(inner, this.#inLink)), end + sign.length);
    }
    return false;
  }

  #address() {
    if (this.#inLink || !"<h".includes(this.#text[this.#at])) return false;
    if (WORD.test(this.#text[this.#at - 1] ?? "")) return false;
    if (!this.#text.startsWith("http", this.#at + (this.#text[this.#at] === "<" ? 1 : 0))) return false;
    const angled = ANGLED.exec(this.#rest);
    const address = angled?.[1] ?? withoutEnding(BARE.exec(this.#rest)?.[0] ?? "");
    if (webAddress(address) === null) return false;
    return this.#put(link(address, {}, address), this.#at + (angled?.[0] ?? address).length);
  }

  #inside(text, inLink) {
    return new Inline(text, this.#ownId, this.#depth + 1, inLink).nodes();
  }

  #put(node, end) {
    this.#flush();
    this.#nodes.push(node);
    this.#at = end;
    return true;
  }

  #flush() {
    this.#plain.split("\n").forEach((line, index) => {
      if (index) this.#nodes.push(make("br"));
      if (line) this.#nodes.push(document.createTextNode(line));
    });
    this.#plain = "";
  }
}

function ticksAt(text, at) {
  let end = at;
  while (text[end] === "`") end++;
  return end - at;
}

/** Behind the code that opens at `at`; null where nothing closes it. */
function afterCode(text, at) {
  const ticks = ticksAt(text, at);
  for (let next = text.indexOf("`", at + ticks); next >= 0; next = text.indexOf("`", next)) {
    const count = ticksAt(text, next);
    next += count;
    if (count === ticks) return next;
  }
  return null;
}

/** Where the label that opens at `at` ends. What is escaped or code closes nothing. */
function closingBracket(text, at) {
  let depth = 0;
  for (let next = at; next < text.length; next = step(text, next)) {
    if (text[next] === "[" && ++depth > MOST_BRACKETS) return null;
    if (text[next] === "]" && --depth === 0) return next;
  }
  return null;
}

/** Where `sign` closes what it opened before `from`. */
function closingSign(text, from, sign) {
  for (let next = from; next < text.length; next = step(text, next)) {
    if (text[next] !== sign[0]) continue;
    let count = 1;
    while (text[next + count] === sign[0]) count++;
    const closes = next > from && !/\s/u.test(text[next - 1]) && !(sign[0] === "_" && WORD.test(text[next + count] ?? ""));
    // Two stars are not two ends of italics; three close bold and italics, the inner first.
    if (closes && (count === sign.length || count > 2)) return next + count - sign.length;
    next += count - 1;
  }
  return null;
}

function opens(text, at, sign) {
  const after = text[at + sign.length] ?? " ";
  return !/\s/u.test(after) && !(sign[0] === "_" && WORD.test(text[at - 1] ?? ""));
}

/** The next place that may mean something. */
function step(text, at) {
  if (text[at] === "\\") return at + 2;
  if (text[at] === "`") return afterCode(text, at) ?? at + ticksAt(text, at);
  return at + 1;
}

/** The dot after an address ends the sentence, and a bracket around it is not part of it. */
function withoutEnding(address) {
  const shorter = address.replace(/[.,:;!?'"*_~]+$/u, "");
  const unopened = shorter.endsWith(")") && shorter.split(")").length > shorter.split("(").length;
  return unopened ? withoutEnding(shorter.slice(0, -1)) : shorter;
}
