// The message fields by conversation key (by id for private conversations), so that other views can focus
// them.

/** @import { RefObject } from "../../vendor/preact.js" */

import { useLayoutEffect } from "../../vendor/preact.js";

/** @type {Map<string | null | undefined, HTMLTextAreaElement>} */
const fields = new Map();

/** Register a message field. @param {string} spot @param {RefObject<HTMLTextAreaElement>} ref */
export function useField(spot, ref) {
  useLayoutEffect(() => {
    const field = ref.current;
    fields.set(spot, field);
    return () => {
      if (fields.get(spot) === field) fields.delete(spot);
    };
  }, [spot]);
}

const FINGERS = matchMedia("(hover: none) and (pointer: coarse)");

/**
 * Return whether the key sends the message. An on-screen keyboard has no Shift+Enter, so on such a device
 * Enter starts a new line and the button sends.
 * @param {KeyboardEvent} event
 */
export const isSendKey = ({ key, shiftKey, ctrlKey, metaKey }) =>
  key === "Enter" && !shiftKey && (ctrlKey || metaKey || !FINGERS.matches);

/** Focus a message field. @param {string | null | undefined} spot */
export const goToField = (spot) => fields.get(spot)?.focus();

/**
 * Focus a message field from a dialog, which would restore the former focus when it closes.
 * @param {string} spot
 */
export const leaveForField = (spot) => setTimeout(() => goToField(spot));
