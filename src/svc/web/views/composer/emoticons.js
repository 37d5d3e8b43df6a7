// Converts emoticons in the composer to emoji when a space is typed after them or the message is sent.
// Pressing Backspace immediately afterwards or using the browser's undo reverts the conversion, and later
// emoticons in the same message then stay as typed.

import { finished, withEmoji } from "../../state/emoticons.js";
import { appearance } from "../../state/appearance.js";
import { useState } from "../../vendor/preact.js";

/**
 * Convert emoticons in a text field as the user types. Pass the field's input events to `typed` and its key
 * presses to `pressed`. `sent` returns a function that converts the text that is about to be sent.
 */
export function useEmoticons() {
  const [on] = useState(make);
  return on;
}

/**
 * @typedef {EventOn<HTMLTextAreaElement, InputEvent>} Typed
 * @typedef {EventOn<HTMLTextAreaElement, KeyboardEvent>} Pressed
 */

function make() {
  /** The latest converted emoticon. @type {{start: number, end: number, words: string} | null} */
  let last = null;
  let spared = false;
  let busy = false;
  const replace = (
    /** @type {HTMLTextAreaElement} */ field,
    /** @type {number} */ start,
    /** @type {number} */ end,
    /** @type {string} */ words,
  ) => {
    busy = true;
    field.setSelectionRange(start, end);
    // The browser can undo only edits made with execCommand.
    document.execCommand("insertText", false, words);
    busy = false;
  };
  return {
    /** @param {Typed} event */
    typed({ currentTarget: field, inputType, data }) {
      if (busy) return;
      last = null;
      if (!field.value) spared = false;
      if (inputType === "historyUndo") spared = true;
      if (spared || data !== " " || !appearance.value.emoticons) return;
      const emoticon = finished(field.value, field.selectionStart);
      if (!emoticon) return;
      const { start, end, emoji } = emoticon;
      const words = field.value.slice(start, end + 1);
      replace(field, start, end + 1, `${emoji} `);
      last = { start, end: field.selectionStart, words };
    },
    /** Return whether the key was handled. @param {Pressed} event */
    pressed(event) {
      const { key, currentTarget: field } = event;
      if (
        key !== "Backspace" ||
        !last ||
        field.selectionStart !== last.end ||
        field.selectionEnd !== last.end
      )
        return false;
      event.preventDefault();
      const { start, end, words } = last;
      [last, spared] = [null, true];
      replace(field, start, end, words);
      return true;
    },
    sent() {
      const stay = spared || !appearance.value.emoticons;
      [last, spared] = [null, false];
      return (/** @type {string} */ text) => (stay ? text : withEmoji(text));
    },
  };
}
