// The fields in which one writes, by their spots (in a private conversation by its id), so that other views lead there.

/** @import { RefObject } from "../../vendor/preact.js" */

import { useLayoutEffect } from "../../vendor/preact.js";

/** @type {Map<string | null | undefined, HTMLTextAreaElement>} */
const fields = new Map();

/** One writes here. @param {string} spot @param {RefObject<HTMLTextAreaElement>} ref */
export function useField(spot, ref) {
  useLayoutEffect(() => {
    const field = ref.current;
    fields.set(spot, field);
    return () => { if (fields.get(spot) === field) fields.delete(spot); };
  }, [spot]);
}

const FINGERS = matchMedia("(hover: none) and (pointer: coarse)");

/** Whether the key sends what is written. On a screen keyboard Enter starts a new line, as there is no Shift+Enter; a button sends. @param {KeyboardEvent} event */
export const isSendKey = ({ key, shiftKey, ctrlKey, metaKey }) => key === "Enter" && !shiftKey && (ctrlKey || metaKey || !FINGERS.matches);

/** Put the focus where one writes. @param {string | null | undefined} spot */
export const goToField = (spot) => fields.get(spot)?.focus();

/** The same from a dialog, which gives the focus back to where it was when it is closed. @param {string} spot */
export const leaveForField = (spot) => setTimeout(() => goToField(spot));
