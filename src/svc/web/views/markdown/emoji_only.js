// Detects text that consists only of emoji, which is shown in a large size. Also used elsewhere to tell emoji
// from words.

/** @typedef {import("./parse.js").Node} Node */
/** @typedef {import("./context.js").Context} Context */

const MAX_EMOJI = 30; // A message with more emoji is probably a drawing.
const FLAG = String.raw`\p{RI}\p{RI}`;
const KEYCAP = String.raw`[0-9#*]\uFE0F?\u20E3`;
// An emoji can have a skin tone, the variation selector for colour, or the tag letters of a regional flag.
const SHOWN = String.raw`\p{Emoji_Presentation}|\p{Extended_Pictographic}`;
const VARIANT = String.raw`(?:\uFE0F|\p{EMod})?`;
const SIGN = String.raw`(?:${SHOWN}(?=\uFE0F|\p{EMod}|\u200D))${VARIANT}[\u{E0020}-\u{E007F}]*`;
const JOINED = String.raw`(?:\u200D(?:${SHOWN})${VARIANT})*`;
const ONE = new RegExp(`${FLAG}|${KEYCAP}|${SIGN}${JOINED}`, "yu");

/** Return the number of emoji in the text, or 0 if it contains anything else. @param {string} text */
export function countSigns(text) {
  let count = 0;
  for (let at = 0; at < text.length; ) {
    if (/\s/u.test(text[at])) at++;
    else {
      ONE.lastIndex = at;
      if (!ONE.test(text) || ++count > MAX_EMOJI) return 0;
      at = ONE.lastIndex;
    }
  }
  return count;
}

/** @param {Node} root @param {Context} context */
export function isOnlyEmoji(root, context) {
  let count = 0;
  for (const paragraph of root.children) {
    if (paragraph.type !== "paragraph") return false;
    for (const { type, text = "" } of paragraph.children) {
      if (type === "break" || (type === "text" && !text.trim())) continue;
      const more =
        type === "emoji" ? Number(Boolean(context.emoji?.has(text))) : type === "text" ? countSigns(text) : 0;
      if (!more) return false;
      count += more;
    }
  }
  return count > 0 && count <= MAX_EMOJI;
}
