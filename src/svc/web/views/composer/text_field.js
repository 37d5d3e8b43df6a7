// Implements the message field. It shows names for the ids in the markdown, converts emoticons, and completes
// names.

/** @import { Names } from "../../state/mention_text.js" */
/** @import { RefObject } from "../../vendor/preact.js" */

import { formatOf, formatted } from "../../state/markdown_formatting.js";
import { restored, shortened } from "../../state/mention_text.js";
import { useLayoutEffect, useRef } from "../../vendor/preact.js";
import { useCompletion } from "./completion_list.js";
import { useEmoticons } from "./emoticons.js";

export const MAX_CHARACTERS = 4000; // The maximum number of characters in a message.

/**
 * Manage a message field. `text` is markdown, and `write` stores its new value. If `channelId` is null,
 * complete only members and emoji. Spread the returned `attributes` on the field. Pass its input events to
 * `typed` and its key presses to `pressed`, which returns whether it has handled the key.
 * @param {{text: string, names: Names, channelId: string | null, write: (markdown: string) => void}} given
 */
export function useWriting({ text, names, channelId, write }) {
  /** @type {RefObject<HTMLTextAreaElement>} */
  const field = useRef(null);
  useLayoutEffect(() => grow(field.current), [text]);
  const markdown = (/** @type {string} */ shown) => restored(shown, names);
  const short = (/** @type {string} */ now) => shortened(markdown(now), names);
  /** Replace the text and set the selection. @param {string} now @param {number} start */
  const put = (now, start, end = start) => {
    field.current.value = short(now);
    write(markdown(now));
    field.current.focus();
    field.current.setSelectionRange(short(now.slice(0, start)).length, short(now.slice(0, end)).length);
  };
  const wrap = (/** @type {string} */ sign) => {
    const { value, selectionStart, selectionEnd } = field.current;
    const now = formatted(value, selectionStart, selectionEnd, sign);
    put(now.text, now.start, now.end);
  };
  const insert = (/** @type {string} */ sign) => {
    const { value, selectionStart: start, selectionEnd: end } = field.current;
    put(`${value.slice(0, start)}${sign} ${value.slice(end)}`, start + sign.length + 1);
  };
  const completion = useCompletion(field, channelId, names, put);
  const emoticons = useEmoticons();
  const pressed = (/** @type {EventOn<HTMLTextAreaElement, KeyboardEvent>} */ event) => {
    if (completion.onKey(event) || emoticons.pressed(event)) return true;
    const format = formatOf(event);
    if (!format) return false;
    event.preventDefault();
    wrap(format.sign);
    return true;
  };
  const typed = (/** @type {EventOn<HTMLTextAreaElement, InputEvent>} */ event) => {
    emoticons.typed(event);
    write(markdown(event.currentTarget.value));
    completion.look();
  };
  /**
   * Return the text to send. If completion data is not loaded yet, also return `later`, a promise for the
   * final text.
   * @param {string} now
   */
  const finished = (now) => {
    const turned = emoticons.sent();
    const made = () => turned(completion.meant(now));
    return { text: made(), later: completion.missing(now)?.then(made) };
  };
  const offered = completion.list.length > 0;
  const attributes = {
    ref: field,
    rows: "1",
    maxlength: MAX_CHARACTERS,
    dir: "auto",
    value: short(text),
    onClick: completion.look,
    onBlur: completion.close,
    "aria-haspopup": "listbox",
    "aria-autocomplete": "list",
    "aria-controls": offered ? completion.id : undefined,
    "aria-activedescendant": offered ? `${completion.id}-at` : undefined,
  };
  return {
    field,
    attributes,
    completion,
    wrap,
    insert,
    pressed,
    typed,
    written: () => markdown(field.current.value),
    finished,
  };
}

// In browsers that support `field-sizing`, style/composer.css grows the field, which saves two page layouts
// per key press.
const growsItself = globalThis.CSS?.supports("field-sizing", "content");

/** Fit a field's height to its text. The style sheet limits the height. @param {HTMLTextAreaElement} field */
function grow(field) {
  if (growsItself) return;
  const [style, row] = [field.style, /** @type {HTMLElement} */ (field.parentElement)];
  // Fix the row's height. Otherwise, the message list would grow and lose its scroll position during the
  // measurement.
  if (field.value) row.style.height = `${row.offsetHeight}px`;
  style.height = "auto";
  // An empty field needs no measurement, which would cost a page layout.
  if (field.value) style.height = `${field.scrollHeight + 2}px`;
  row.style.height = "";
}
