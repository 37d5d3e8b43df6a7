// Adds formatting such as bold and italic to the selected text, or removes it. Contains only pure functions.

/** The keys that add a Markdown marker when pressed with Ctrl or Command. */
export const FORMATS = [
  { key: "b", sign: "**", words: "format-bold" },
  { key: "i", sign: "*", words: "format-italic" },
  { key: "u", sign: "__", words: "format-underline" },
  { key: "e", sign: "`", words: "format-code" },
  { key: "x", shift: true, sign: "~~", words: "format-strike" },
  { key: "s", shift: true, sign: "||", words: "format-spoiler" },
];

/**
 * Return the format for a keyboard shortcut, or null.
 * @param {Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">} pressed
 */
export function formatOf({ key, ctrlKey, metaKey, shiftKey, altKey }) {
  if (!(ctrlKey || metaKey) || altKey) return null;
  return (
    FORMATS.find((format) => format.key === key.toLowerCase() && Boolean(format.shift) === shiftKey) ?? null
  );
}

/**
 * Add the marker around the selection from `start` to `end`, or remove it. Return the new text and the new
 * selection.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @param {string} sign
 */
export function formatted(text, start, end, sign) {
  const [before, inner, after] = [text.slice(0, start), text.slice(start, end), text.slice(end)];
  const { length } = sign;
  if (has(before, sign, "endsWith") && has(after, sign, "startsWith")) {
    return {
      text: before.slice(0, -length) + inner + after.slice(length),
      start: start - length,
      end: end - length,
    };
  }
  if (inner.length >= 2 * length && has(inner, sign, "startsWith") && has(inner, sign, "endsWith")) {
    return { text: before + inner.slice(length, -length) + after, start, end: end - 2 * length };
  }
  return { text: before + sign + inner + sign + after, start: start + length, end: end + length };
}

/**
 * Return whether the text begins or ends with exactly this marker. A single asterisk must not match half of a
 * double asterisk.
 * @param {string} text
 * @param {string} sign
 * @param {"startsWith" | "endsWith"} how
 */
function has(text, sign, how) {
  if (!text[how](sign)) return false;
  if (sign !== "*") return true;
  const stars = (how === "endsWith" ? /\*+$/u : /^\*+/u).exec(text)?.[0].length ?? 0;
  return stars % 2 === 1;
}
