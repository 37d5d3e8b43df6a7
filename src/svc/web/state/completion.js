// Completes names as the member types: members, roles and groups after "@", channels after "#", emoji after
// ":", and commands after "/". Finds the text to complete and its candidates, and inserts the chosen
// candidate. Contains only pure functions.

import { commandAt, commandsFor } from "./slash_commands.js";
import { matching } from "./name_search.js";
import { BEHIND, escaped, WORD_BEFORE } from "./mention_text.js";

/**
 * @typedef {{sign: "@" | "#" | ":" | "/", query: string, start: number, end: number}} CompletionQuery The
 *   candidate replaces the text from `start` to `end`.
 */
/**
 * @typedef {{kind: "member" | "role" | "group" | "channel" | "emoji" | "command", id: string, name: string,
 *   character?: string, url?: string}} Candidate
 */
/**
 * @typedef {object} Sources
 * @property {Iterable<{id: string, name: string}>} [members]
 * @property {Iterable<{id: string, name: string}>} [roles]
 * @property {Iterable<{id: string, name: string}>} [channels]
 * @property {boolean} [mayMentionGroups] Whether "everyone", "here" and roles are offered.
 * @property {(permission: string) => boolean} [hasPermission]
 * @property {(prefix: string, limit: number) => {name: string, character?: string, url?: string}[]}
 *   [findEmoji]
 * @property {(name: string) => string | undefined} [emojiNamed] Returns the character of a standard emoji;
 *   undefined for the server's custom emoji.
 */

const MAX_NAME_LENGTH = 40; // Enough for a 32-character name and a few typing errors.
const MIN_EMOJI_LENGTH = 2; // With fewer characters, every ":)" would start a completion.
const DEFAULT_LIMIT = 8;
const AFTER_WORD = new RegExp(`${WORD_BEFORE}$`, "u");
const NAME = /^(?:[^\s[\]()<>`@#|][^\n[\]()<>`]*)?$/u;
const EMOJI_WRITTEN = "(?<![\\p{L}\\p{N}_\\\\/=&?]):([\\p{L}\\p{N}_+-]+):(?![\\p{L}\\p{N}])";
const STARTS = new RegExp(`(?<!${WORD_BEFORE})[@#]|${EMOJI_WRITTEN}`, "gu");
const LINKED = /\[(?:\\.|[^\\\]\n])*\]\([^)\n]*\)|<[^<>\n]*>/gu;
const EMOJI_NAME = /^[\p{L}\p{N}_+-]+$/u;
const FENCE = /^ {0,3}(`{3,}|~{3,})/u;
const GROUPS = ["everyone", "here"].map((name) => ({ id: name, name }));

/**
 * Return the text to complete at the caret. Return null if there is none, for example within code.
 * @param {string} text @param {number} caret @returns {CompletionQuery | null}
 */
export function completing(text, caret) {
  const command = commandAt(text, caret);
  if (command) return command;
  const before = text.slice(0, caret);
  const start = lastSign(before);
  if (start < 0 || AFTER_WORD.test(before.slice(0, start)) || isInCode(before)) return null;
  const sign = /** @type {CompletionQuery["sign"]} */ (before[start]);
  const query = before.slice(start + 1);
  const fits = sign === ":" ? query.length >= MIN_EMOJI_LENGTH && EMOJI_NAME.test(query) : NAME.test(query);
  return fits ? { sign, query, start, end: caret } : null;
}

/**
 * Return the candidates, best first.
 * @param {CompletionQuery} query
 * @param {Sources} sources
 * @param {number} [limit]
 * @returns {Candidate[]}
 */
export function candidates({ sign, query }, sources, limit = DEFAULT_LIMIT) {
  if (sign === ":")
    return (sources.findEmoji?.(query, limit) ?? []).map((emoji) => ({
      kind: "emoji",
      id: emoji.name,
      ...emoji,
    }));
  if (sign === "/")
    return commandsFor(query, sources.hasPermission ?? (() => false)).map(({ name }) => ({
      kind: "command",
      id: name,
      name,
    }));
  if (sign === "#") return matching(of("channel", sources.channels), query, nameOf, limit);
  const all = matching(mentionable(sources), query, nameOf, query ? limit : Infinity);
  if (query) return all;
  // A bare "@" is more often meant for a member than for a role.
  const isPerson = (/** @type {Candidate} */ { kind }) => kind === "member";
  return [...all.filter(isPerson), ...all.filter((item) => !isPerson(item))].slice(0, limit);
}

/** Return whether the text contains an emoji name such as ":wave:". @param {string} text */
export const hasEmojiWritten = (text) => new RegExp(EMOJI_WRITTEN, "u").test(text);

/** Return whether the text contains an "@" that can introduce a member's name. @param {string} text */
export const hasNameWritten = (text) => new RegExp(`(?<!${WORD_BEFORE})@`, "u").test(text);

/**
 * Convert typed text to Markdown. Names after "@" and "#" become mentions, and emoji names become emoji.
 * Ambiguous names remain plain text.
 * @param {string} text @param {Sources} sources
 */
export function meant(text, sources) {
  const links = [...text.matchAll(LINKED)];
  const known = { "@": mentionable(sources), "#": of("channel", sources.channels) };
  let made = "";
  let from = 0;
  for (const { 0: start, 1: name, index } of text.matchAll(STARTS)) {
    const isInLink = links.some((link) => link.index < index && index < link.index + link[0].length);
    if (index < from || isInLink || isInCode(text.slice(0, index))) continue;
    const matches = name
      ? { name: `${name}:`, sign: sources.emojiNamed?.(name) }
      : writtenOut(
          text.slice(index + 1, index + 1 + MAX_NAME_LENGTH),
          known[/** @type {"@" | "#"} */ (start)],
        );
    const put = matches && ("sign" in matches ? matches.sign : written(matches));
    if (!matches || !put) continue;
    made += text.slice(from, index) + put;
    from = index + 1 + matches.name.length;
  }
  return made + text.slice(from);
}

/**
 * Insert the chosen candidate. Return the new text and the new position of the caret.
 * @param {string} text
 * @param {CompletionQuery} query
 * @param {Candidate} chosen
 */
export function complete(text, { start, end }, chosen) {
  const after = text.slice(end);
  const put = written(chosen) + (/^\s/u.test(after) ? "" : " ");
  const caret = start + put.length + (put.endsWith(" ") ? 0 : 1);
  return { text: text.slice(0, start) + put + after, caret };
}

/** Return a candidate as Markdown. @param {Candidate} chosen */
export function written({ kind, id, name, character }) {
  if (kind === "command") return `/${name}`;
  if (kind === "emoji") return character ?? `:${name}:`;
  const scheme = kind === "role" || kind === "channel" ? kind : "mention";
  return `[${escaped(name)}](${scheme}:${id})`;
}

/** @param {Sources} sources */
const mentionable = ({ members, roles, mayMentionGroups }) => [
  ...of("member", members),
  ...(mayMentionGroups ? [...of("role", roles), ...of("group", GROUPS)] : []),
];

/**
 * Return the candidate with the longest name at the start of the text. Case matters only between names of the
 * same length.
 * @param {string} text
 * @param {Candidate[]} all
 */
function writtenOut(text, all) {
  const lower = text.toLowerCase();
  const fitting = all.filter(
    ({ name }) => lower.startsWith(name.toLowerCase()) && !BEHIND.test(text.slice(name.length)),
  );
  const longestName = Math.max(...fitting.map(({ name }) => name.length));
  const longest = fitting.filter(({ name }) => name.length === longestName);
  const exact = longest.filter(({ name }) => text.startsWith(name));
  return [longest, exact].find((candidates) => candidates.length === 1)?.[0];
}

/**
 * @param {Candidate["kind"]} kind
 * @param {Iterable<{id: string, name: string}>} [items]
 * @returns {Candidate[]}
 */
const of = (kind, items = []) => Array.from(items, ({ id, name }) => ({ kind, id, name }));

/** @param {Candidate} candidate */
const nameOf = ({ name }) => name;

/** @param {string} before */
function lastSign(before) {
  for (let at = before.length - 1; at >= Math.max(0, before.length - MAX_NAME_LENGTH); at--) {
    if (before[at] === "\n") return -1;
    if ("@#:".includes(before[at])) return at;
  }
  return -1;
}

/**
 * Return whether the text ends within a fenced code block, or after an unclosed backtick.
 * @param {string} before
 */
function isInCode(before) {
  let fence = "";
  const lines = before.split("\n");
  for (const line of lines) {
    const [, mark = ""] = FENCE.exec(line) ?? [];
    if (!fence) fence = mark;
    else if (mark.startsWith(fence)) fence = "";
  }
  const ticks = lines[lines.length - 1].match(/(?<!\\)`/gu) ?? [];
  return fence !== "" || ticks.length % 2 === 1;
}
