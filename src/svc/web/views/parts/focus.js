// The focus when something closes: it goes back to where it was before, or to the field in which one writes.

/** @import { RefObject } from "../../vendor/preact.js" */

import { place } from "../../state/place.js";
import { useLayoutEffect } from "../../vendor/preact.js";
import { goToField } from "../composer/fields.js";

/** @param {Element | null} before */
export function giveFocusBack(before) {
  if (before instanceof HTMLElement && before !== document.body) before.focus();
  // It is gone, or hidden. On a phone the field would put a keyboard over the page.
  if (document.activeElement !== before || before === document.body) if (matchMedia("(pointer: fine)").matches) goToField(place.value?.channelId ?? place.value?.talkId);
}

/** Give the focus back when this goes and has it. @param {RefObject<HTMLElement>} ref */
export function useFocusBack(ref) {
  useLayoutEffect(() => {
    const [shown, before] = [ref.current, document.activeElement];
    return () => { if (shown?.contains(document.activeElement)) giveFocusBack(before); };
  }, []);
}
