// Manages the keyboard focus. Other views can focus message fields, which are registered by conversation key
// or, for private conversations, by id. When a panel or dialog closes, the focus returns to the element that
// had it before, or to the message field.

/** @import { RefObject } from "../../vendor/preact.js" */

import { useLayoutEffect, useState } from "../../vendor/preact.js";
import { currentLocation } from "../../state/navigation.js";

/** @type {Map<string | null | undefined, HTMLTextAreaElement>} */
const fields = new Map();

/** Register a message field. @param {string} conversationKey @param {RefObject<HTMLTextAreaElement>} ref */
export function useMessageField(conversationKey, ref) {
  useLayoutEffect(() => {
    const field = ref.current;
    fields.set(conversationKey, field);
    return () => {
      if (fields.get(conversationKey) === field) fields.delete(conversationKey);
    };
  }, [conversationKey]);
}

const FINGERS = matchMedia("(hover: none) and (pointer: coarse)");

/**
 * Return whether the key sends the message. On-screen keyboards have no Shift+Enter. With them, Enter starts
 * a new line, and only the button sends.
 * @param {KeyboardEvent} event
 */
export const isSendKey = ({ key, shiftKey, ctrlKey, metaKey }) =>
  key === "Enter" && !shiftKey && (ctrlKey || metaKey || !FINGERS.matches);

/** Focus a message field. @param {string | null | undefined} conversationKey */
export const focusMessageField = (conversationKey) => fields.get(conversationKey)?.focus();

/**
 * Focus a message field once the calling dialog has closed and restored the previous focus.
 * @param {string} conversationKey
 */
export const focusMessageFieldLater = (conversationKey) =>
  setTimeout(() => focusMessageField(conversationKey));

/** @param {Element | null} before */
export function restoreFocus(before) {
  if (before instanceof HTMLElement && before !== document.body) before.focus();
  // The element is gone or hidden. Do not focus the field on a phone, because the keyboard would cover the
  // page.
  if (document.activeElement !== before || before === document.body)
    if (matchMedia("(pointer: fine)").matches)
      focusMessageField(currentLocation.value?.channelId ?? currentLocation.value?.conversationId);
}

/**
 * Restore the previous focus if the component has the focus when it unmounts. The previously focused element
 * is read in the first render, before an effect of a child moves the focus.
 * @param {RefObject<HTMLElement>} ref
 */
export function useRestoredFocus(ref) {
  const [before] = useState(document.activeElement);
  useLayoutEffect(() => {
    const shown = ref.current;
    return () => {
      if (shown?.contains(document.activeElement)) restoreFocus(before);
    };
  }, []);
}
