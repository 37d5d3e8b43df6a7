// Restores the focus when a panel or dialog closes: to the former element, or to the message field.

/** @import { RefObject } from "../../vendor/preact.js" */

import { place } from "../../state/navigation.js";
import { useLayoutEffect, useState } from "../../vendor/preact.js";
import { goToField } from "../composer/message_fields.js";

/** @param {Element | null} before */
export function giveFocusBack(before) {
  if (before instanceof HTMLElement && before !== document.body) before.focus();
  // The element is gone or hidden. On a phone, focusing the field would open the keyboard over the page.
  if (document.activeElement !== before || before === document.body)
    if (matchMedia("(pointer: fine)").matches)
      goToField(place.value?.channelId ?? place.value?.conversationId);
}

/**
 * Restore the focus when the component unmounts while it has the focus. Remembers the former element before
 * an effect in a field inside takes the focus.
 * @param {RefObject<HTMLElement>} ref
 */
export function useFocusBack(ref) {
  const [before] = useState(document.activeElement);
  useLayoutEffect(() => {
    const shown = ref.current;
    return () => {
      if (shown?.contains(document.activeElement)) giveFocusBack(before);
    };
  }, []);
}
