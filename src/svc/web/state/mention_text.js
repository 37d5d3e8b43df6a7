// Converts mentions between the Markdown that is stored and sent, and the form "@Ada" that text fields show.
// Contains only pure functions.

/** Maps the displayed text of each mention to its Markdown. @typedef {Map<string, string>} Names */

const LINK = String.raw`\[(?:\\.|[^\\[\]\n])+\]\((?:mention|role|channel):[\w-]+\)`;
const PARTS = /^\[(.+)\]\((\w+):/su;
// Letters of scripts that separate words with spaces.
const LETTER = String.raw`(?![\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}])\p{L}`;
/** A name cannot begin after one of these characters, for example within a URL. */
export const WORD_BEFORE = String.raw`(?:[\p{N}_\\/:@#&=?.+-]|${LETTER})`;
/** Characters with a special meaning in a link label. */
const MEANINGFUL = /[\\`*_[\]<>~|:!&]/gu;
const WORD_BEHIND = String.raw`(?:[\p{N}_]|${LETTER})`;
/** A name cannot end before one of these characters. */
export const BEHIND = new RegExp(`^${WORD_BEHIND}`, "u");

/** Return a name with all special characters of Markdown escaped. @param {string} name */
export const escaped = (name) => name.replace(/\s+/gu, " ").replace(MEANINGFUL, "\\$&");

/**
 * Return the text that the field shows for this Markdown. Add to `names` the entries that `restored` needs.
 * @param {string} markdown
 * @param {Names} names
 */
export function shortened(markdown, names) {
  const text = markdown.replace(new RegExp(LINK, "gu"), (link) => {
    const [, label, kind] = /** @type {RegExpExecArray} */ (PARTS.exec(link));
    const shown = (kind === "channel" ? "#" : "@") + label.replace(/\\(.)/gu, "$1").replace(/^[@#]/u, "");
    if (!names.has(shown)) names.set(shown, link);
    return names.get(shown) === link ? shown : link; // The name already stands for another member.
  });
  return restored(text, names) === markdown ? text : markdown;
}

/** Return the Markdown for the field's text. @param {string} text @param {Names} names */
export function restored(text, names) {
  if (!names.size) return text;
  const longest = [...names.keys()]
    .sort((a, b) => b.length - a.length)
    .map((name) => name.replace(/[^\p{L}\p{N}\s]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`));
  const pattern = new RegExp(`${LINK}|(?<!${WORD_BEFORE})(?:${longest.join("|")})(?!${WORD_BEHIND})`, "gu");
  return text.replace(pattern, (mention) => names.get(mention) ?? mention);
}

/**
 * Return whether one of these names begins at `start` and ends before the caret.
 * @param {string} text
 * @param {number} start
 * @param {number} caret
 * @param {Names} names
 */
export const isNamed = (text, start, caret, names) =>
  [...names.keys()].some((name) => {
    const end = start + name.length;
    return end <= caret && text.startsWith(name, start) && !BEHIND.test(text.slice(end));
  });
