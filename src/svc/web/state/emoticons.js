// Replaces emoticons such as ":)" with emoji as the member types, except in code. Contains only pure
// functions.

/** @type {Record<string, string>} */
const EMOJI = {
  ":)": "🙂",
  ":-)": "🙂",
  "(:": "🙂",
  ":D": "😄",
  ":-D": "😄",
  xD: "😆",
  XD: "😆",
  ";)": "😉",
  ";-)": "😉",
  ":P": "😛",
  ":p": "😛",
  ":-P": "😛",
  ":-p": "😛",
  ";P": "😜",
  ";p": "😜",
  ":(": "🙁",
  ":-(": "🙁",
  ":'(": "😢",
  ":')": "🥲",
  ">:(": "😠",
  ":O": "😮",
  ":o": "😮",
  ":-O": "😮",
  ":-o": "😮",
  ":/": "😕",
  ":-/": "😕",
  ":|": "😐",
  ":-|": "😐",
  ":*": "😘",
  ":-*": "😘",
  "<3": "❤️",
  "</3": "💔",
};
const TOKEN = /(?<!\S)\S{2,3}(?!\S)/gu;
const MAX_LENGTH = 3;
// Matches fenced code blocks and code spans. An unclosed block extends to the end of the text, and an
// unclosed span to the end of the line.
const CODE =
  /^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|(?![\s\S]))|(`+)(?!`)(?:[\s\S]*?[^`])\2(?!`)|`[^\n]*/gmu;

/** @param {string} token */
const emojiOf = (token) => (Object.hasOwn(EMOJI, token) ? EMOJI[token] : token);

/** Return the text with every emoticon that stands alone replaced by its emoji. @param {string} text */
export function withEmoji(text) {
  let done = "";
  let at = 0;
  for (const code of text.matchAll(CODE)) {
    done += text.slice(at, code.index).replace(TOKEN, emojiOf) + code[0];
    at = code.index + code[0].length;
  }
  return done + text.slice(at).replace(TOKEN, emojiOf);
}

/**
 * Return the emoji for an emoticon that is followed by a space and the caret, {start, end, emoji}, or null.
 * @param {string} text @param {number} caret
 */
export function finished(text, caret) {
  const before = text.slice(0, caret);
  const token = /(?<!\S)(\S{2,3}) $/u.exec(before.slice(-MAX_LENGTH - 2))?.[1] ?? "";
  const emoji = emojiOf(token);
  if (emoji === token) return null;
  const [start, end] = [caret - 1 - token.length, caret - 1];
  return withEmoji(before) === before || !withEmoji(before).endsWith(`${emoji} `)
    ? null
    : { start, end, emoji };
}
