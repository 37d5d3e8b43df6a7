// Emoticons such as ":)", which become emoji while one writes. Nothing within code is touched. Pure functions.

/** @type {Record<string, string>} */
const EMOJI = {
  ":)": "🙂", ":-)": "🙂", "(:": "🙂", ":D": "😄", ":-D": "😄", "xD": "😆", "XD": "😆", ";)": "😉", ";-)": "😉", ":P": "😛", ":p": "😛", ":-P": "😛",
  ":-p": "😛", ";P": "😜", ";p": "😜", ":(": "🙁", ":-(": "🙁", ":'(": "😢", ":')": "🥲", ">:(": "😠", ":O": "😮", ":o": "😮", ":-O": "😮", ":-o": "😮",
  ":/": "😕", ":-/": "😕", ":|": "😐", ":-|": "😐", ":*": "😘", ":-*": "😘", "<3": "❤️", "</3": "💔",
};
const TOKEN = /(?<!\S)\S{2,3}(?!\S)/gu;
const LONGEST = 3;
// Blocks between fences, and what is between ticks; one that nothing closes goes on to the end, of the line or of all.
const CODE = /^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1|(?![\s\S]))|(`+)(?!`)(?:[\s\S]*?[^`])\2(?!`)|`[^\n]*/gmu;

/** @param {string} token */
const emojiOf = (token) => (Object.hasOwn(EMOJI, token) ? EMOJI[token] : token);

/** The text with emoji in place of all emoticons that stand by themselves. @param {string} text */
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
 * What a space, just written before the caret, makes of the emoticon before it: {start, end, emoji}, or null.
 * @param {string} text @param {number} caret
 */
export function finished(text, caret) {
  const before = text.slice(0, caret);
  const token = /(?<!\S)(\S{2,3}) $/u.exec(before.slice(-LONGEST - 2))?.[1] ?? "";
  const emoji = emojiOf(token);
  if (emoji === token) return null;
  const [start, end] = [caret - 1 - token.length, caret - 1];
  return withEmoji(before) === before || !withEmoji(before).endsWith(`${emoji} `) ? null : { start, end, emoji };
}
