// Adapts markdown-it's rules to messages. It adds spoilers, bare URLs, emoji, timestamps, small text, and
// quotes that extend to the end of the message. Quotes and list items end with their line, and the size of
// tables and the nesting depth are limited. The rules produce tokens, and markdown.js renders them.

import { addressFrom, webAddress } from "./links.js";

// The nesting limit in markdown-it's levels. A quote is one level, and a list item is two, including its
// list. Deeper markers are shown as text.
const MAX_LEVELS = 12;
// Markdown-it adds missing cells to every row, so a wide table with thousands of rows would be slow.
const MAX_COLUMNS = 24;
const EMOJI = /:[a-z0-9_]{2,30}:/y;
// Text up to the next character that can begin an inline rule. Markdown-it's own list of these lacks "|".
const PLAIN = /[^\n\\`*_~[\]!<:|]+/y;
const ANGLED = /<(https?:\/\/[^\s<>]+)>/iy;
// A timestamp in seconds since 1970, with its format. It has at most as many digits as a Date supports.
const MOMENT = /<t:(-?\d{1,12})(?::([tTdDfFR]))?>/y;
/** @type {Record<string, string>} The styles of `Time` by Discord's format letters. */
const STYLES = { t: "clock", T: "clock", d: "day", D: "day", f: "long", F: "long", R: "distance" };
const SMALL = "-# ";
const ALL_THAT_FOLLOWS = ">>> ";
const SCHEME = /(?:^|[^\p{sc=Latin}\p{N}])(https?)$/iu;
const MAX_SCHEME = 6; // "https" and one character before it.
const SPOILER = "||";
// The scripts without spaces between words, with their punctuation.
const UNSPACED = new RegExp(
  String.raw`[\p{sc=Han}\p{sc=Hangul}\p{sc=Bopomofo}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}` +
    String.raw`\u3000-\u30ff\ufe30-\ufe4f\uff00-\uffef]`,
  "u",
);
const PUNCTUATION = /[\p{P}\p{S}]/u;

/** @typedef {any} State markdown-it's state for parsing blocks or inline content */

/**
 * Add all rules. `original` returns the original markdown-it rule of a given name.
 * @param {any} parser @param {(name: string) => Function} original
 */
export function addRules(parser, original) {
  const { block, inline } = parser;
  inline.State = withUnspaced(inline.State);
  inline.ruler.at("text", plain);
  inline.ruler.before("link", "picture", picture);
  inline.ruler.before("link", "spoiler", spoiler);
  inline.ruler.before("link", "angled", angled);
  inline.ruler.before("link", "moment", moment);
  inline.ruler.before("link", "address", address);
  inline.ruler.before("link", "emoji", emoji);

  const interrupting = { alt: ["paragraph", "blockquote", "list"] };
  block.ruler.at("table", bounded(original("table"), isNarrow), { alt: ["paragraph"] });
  block.ruler.before("blockquote", "small", small, interrupting);
  block.ruler.before("blockquote", "all_that_follows", quotesAllThatFollows, interrupting);
  block.ruler.at("blockquote", bounded(original("blockquote"), isShallow), interrupting);
  block.ruler.at("list", bounded(original("list"), isShallow), { alt: ["paragraph", "blockquote"] });
  // In CommonMark, the next line can continue a quote or list item. In a chat, a line break ends it.
  block.ruler.before("paragraph", "end_of_quote", endsQuote, { alt: ["blockquote"] });
  block.ruler.before("paragraph", "end_of_entry", endsEntry, { alt: ["paragraph"] });
}

/**
 * Adapt a parser state to scripts without spaces. CommonMark uses spaces and punctuation to decide whether
 * markers open or close emphasis. Here, letters of such scripts count as spaces, and their punctuation counts
 * as letters: 今日は**「晴れ」**です.
 * @param {any} State markdown-it's class for inline content
 */
const withUnspaced = (State) =>
  class extends State {
    /**
     * @param {number} start
     * @param {boolean} splitsWords
     * @returns {{can_open: boolean, can_close: boolean, length: number}}
     */
    scanDelims(start, splitsWords) {
      const delimiters = super.scanDelims(start, splitsWords);
      const end = start + delimiters.length;
      const before = [...this.src.slice(Math.max(0, start - 2), start)].at(-1) ?? " ";
      const after = [...this.src.slice(end, Math.min(end + 2, this.posMax))][0] ?? " ";
      const [unspacedBefore, unspacedAfter] = [UNSPACED.test(before), UNSPACED.test(after)];
      if (!unspacedBefore && !unspacedAfter) return delimiters;
      const [gapBefore, gapAfter] = [/\s/u.test(before), /\s/u.test(after)];
      const [markBefore, markAfter] = [PUNCTUATION.test(before), PUNCTUATION.test(after)];
      const left = !gapAfter && (!markAfter || unspacedAfter || gapBefore || markBefore || unspacedBefore);
      const right = !gapBefore && (!markBefore || unspacedBefore || gapAfter || markAfter || unspacedAfter);
      delimiters.can_open = left && (splitsWords || !right || markBefore);
      delimiters.can_close = right && (splitsWords || !left || markAfter);
      return delimiters;
    }
  };

/** @param {Function} rule @param {(state: State, line: number) => boolean} within */
function bounded(rule, within) {
  return (
    /** @type {State} */ state,
    /** @type {number} */ line,
    /** @type {number} */ end,
    /** @type {boolean} */ silent,
  ) => within(state, line) && rule(state, line, end, silent);
}

/**
 * End a quote at the first line without a quote marker. Also end a table at the first line without a bar,
 * because markdown-it uses the same rules for the ends of tables.
 * @param {State} state
 * @param {number} line
 * @param {number} _end
 * @param {boolean} silent
 */
function endsQuote(state, line, _end, silent) {
  if (!silent || state.parentType === "blockquote") return silent;
  return (
    state.parentType === "table" && !state.src.slice(state.bMarks[line], state.eMarks[line]).includes("|")
  );
}

/** @param {State} state @param {number} line @param {number} _end @param {boolean} silent */
const endsEntry = (state, line, _end, silent) => silent && state.sCount[line] < state.blkIndent;

/** @param {State} state */
const isShallow = (state) => state.level < MAX_LEVELS;

/** @param {State} state @param {number} line */
function isNarrow(state, line) {
  const text = state.src.slice(state.bMarks[line], state.eMarks[line]);
  return text.split("|").length <= MAX_COLUMNS + 2;
}

/**
 * Return whether the line begins with this character. @param {State} state @param {number} line
 * @param {string} sign
 */
function beginsWith(state, line, sign) {
  const start = state.bMarks[line] + state.tShift[line];
  return (
    state.sCount[line] - state.blkIndent < 4 &&
    state.src.startsWith(sign, start) &&
    state.src.slice(start + sign.length, state.eMarks[line]).trim() !== ""
  );
}

/**
 * Parse a line of small text: "-# Small text".
 * @param {State} state
 * @param {number} line
 * @param {number} _end
 * @param {boolean} silent
 */
function small(state, line, _end, silent) {
  if (!beginsWith(state, line, SMALL)) return false;
  if (silent) return true;
  state.line = line + 1;
  state.push("small_open", "", 1);
  const words = state.push("inline", "", 0);
  words.content = state.src
    .slice(state.bMarks[line] + state.tShift[line] + SMALL.length, state.eMarks[line])
    .trim();
  words.children = [];
  state.push("small_close", "", -1);
  return true;
}

/**
 * Parse a quote that extends to the end of the message, ">>> First line", unless it is within another block.
 * @param {State} state
 * @param {number} line
 * @param {number} end
 * @param {boolean} silent
 */
function quotesAllThatFollows(state, line, end, silent) {
  if (state.level > 0 || !beginsWith(state, line, ALL_THAT_FOLLOWS)) return false;
  if (silent) return true;
  const { parentType } = state;
  state.parentType = "blockquote";
  state.push("blockquote_open", "", 1);
  state.bMarks[line] += state.tShift[line] + ALL_THAT_FOLLOWS.length;
  state.tShift[line] = state.sCount[line] = 0;
  state.md.block.tokenize(state, line, end);
  state.push("blockquote_close", "", -1);
  state.parentType = parentType;
  return true;
}

/**
 * Consume text up to the next character that can begin an inline rule.
 * @param {State} state
 * @param {boolean} silent
 */
function plain(state, silent) {
  PLAIN.lastIndex = state.pos;
  const match = PLAIN.exec(state.src);
  if (!match) return false;
  const end = Math.min(PLAIN.lastIndex, state.posMax);
  if (!silent) state.pending += state.src.slice(state.pos, end);
  state.pos = end;
  return true;
}

/**
 * Parse an image as text that includes its URL, because images from other sites are never loaded.
 * @param {State} state
 * @param {boolean} silent
 */
function picture(state, silent) {
  if (!state.src.startsWith("![", state.pos)) return false;
  const { parseLinkLabel, parseLinkDestination, parseLinkTitle } = state.md.helpers;
  const close = parseLinkLabel(state, state.pos + 1, false);
  if (close < 0 || state.src[close + 1] !== "(") return false;
  const destination = parseLinkDestination(state.src, afterSpace(state, close + 2), state.posMax);
  if (!destination.ok) return false;
  let end = afterSpace(state, destination.pos);
  const title = end > destination.pos ? parseLinkTitle(state.src, end, state.posMax) : { ok: false };
  if (title.ok) end = afterSpace(state, title.pos);
  if (end >= state.posMax || state.src[end] !== ")") return false;
  if (!silent) {
    const token = state.push("picture", "", 0);
    token.content = state.src.slice(state.pos + 2, close);
    token.meta = { href: destination.str };
  }
  state.pos = end + 1;
  return true;
}

/** @param {State} state @param {number} at */
function afterSpace(state, at) {
  while (at < state.posMax && /\s/u.test(state.src[at])) at++;
  return at;
}

/**
 * Parse a spoiler, which is hidden until it is clicked: ||a surprise||. @param {State} state @param {boolean}
 * silent
 */
function spoiler(state, silent) {
  if (state.linkLevel > 0 || !state.src.startsWith(SPOILER, state.pos)) return false;
  const start = state.pos + SPOILER.length;
  const end = closingBars(state, start);
  if (end < 0) return false;
  if (!silent) {
    const { posMax } = state;
    state.push("spoiler_open", "", 1);
    state.pos = start;
    state.posMax = end;
    state.md.inline.tokenize(state);
    state.push("spoiler_close", "", -1);
    state.posMax = posMax;
  }
  state.pos = end + SPOILER.length;
  return true;
}

/** @param {State} state @param {number} start */
function closingBars(state, start) {
  let at = state.src.indexOf(SPOILER, start);
  if (at === start) return -1; // "||||" hides nothing.
  while (at >= 0 && at + SPOILER.length <= state.posMax) {
    if (state.src[at - 1] !== "\\" && state.src.slice(start, at).trim()) return at;
    at = state.src.indexOf(SPOILER, at + 1);
  }
  return -1;
}

/** Parse a URL in angle brackets: <https://example.com>. @param {State} state @param {boolean} silent */
function angled(state, silent) {
  if (state.src[state.pos] !== "<" || state.linkLevel > 0) return false;
  ANGLED.lastIndex = state.pos;
  const [all = "", written = ""] = ANGLED.exec(state.src) ?? [];
  if (!all || state.pos + all.length > state.posMax || !webAddress(written)) return false;
  if (!silent) putAddress(state, written);
  state.pos += all.length;
  return true;
}

/**
 * Parse a timestamp in the format that bots use: <t:1700000000:R>.
 * @param {State} state
 * @param {boolean} silent
 */
function moment(state, silent) {
  if (state.src[state.pos] !== "<") return false;
  MOMENT.lastIndex = state.pos;
  const [all = "", seconds, style = "f"] = MOMENT.exec(state.src) ?? [];
  if (!all || state.pos + all.length > state.posMax) return false;
  if (!silent) {
    const token = state.push("time", "", 0);
    token.content = all;
    token.meta = { ms: Number(seconds) * 1000, style: STYLES[style] };
  }
  state.pos += all.length;
  return true;
}

/**
 * Parse a bare URL, detected at its colon: https://example.com. @param {State} state @param {boolean} silent
 */
function address(state, silent) {
  if (state.src[state.pos] !== ":" || state.linkLevel > 0) return false;
  const before = state.src.slice(Math.max(0, state.pos - MAX_SCHEME), state.pos);
  const scheme = SCHEME.exec(before)?.[1] ?? "";
  if (!scheme) return false;
  const tail = addressFrom(state.src, state.pos, state.posMax);
  if (!tail || !webAddress(scheme + tail)) return false;
  if (!silent) {
    // Part of the scheme may be missing from the pending text, as in "\https:".
    if (!state.pending.endsWith(scheme)) return false;
    state.pending = state.pending.slice(0, -scheme.length);
    putAddress(state, scheme + tail);
  }
  state.pos += tail.length;
  return true;
}

/** @param {State} state @param {string} written */
function putAddress(state, written) {
  state.push("address", "", 0).content = written;
}

/**
 * Parse an emoji name such as :wave:. The renderer checks whether the emoji exists.
 * @param {State} state @param {boolean} silent
 */
function emoji(state, silent) {
  if (state.src[state.pos] !== ":") return false;
  EMOJI.lastIndex = state.pos;
  const [all = ""] = EMOJI.exec(state.src) ?? [];
  if (!all || state.pos + all.length > state.posMax) return false;
  if (!silent) state.push("emoji", "", 0).content = all.slice(1, -1);
  state.pos += all.length;
  return true;
}
