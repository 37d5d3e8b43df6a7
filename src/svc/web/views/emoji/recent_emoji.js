// The recently used emoji and the skin tone, stored only in this browser.

import { storeValue, storedValue } from "../../transport/browser_storage.js";
import { signal } from "../../vendor/signals.js";

const KEPT = "svc.emoji";
const MOST_RECENT = 16;
const LONGEST_SIGN = 40;

/**
 * Return whether a stored text could be an emoji or its name. The stored text is untrusted.
 * @param {string} text
 */
export const isSign = (text) => text.length > 0 && text.length <= LONGEST_SIGN;

/** {tone: 0 to 5, recent: emoji, latest first} */
export const remembered = signal(read());

/** @param {number} tone */
export const chooseTone = (tone) => write({ ...remembered.value, tone });

/** @param {string} sign */
export function used(sign) {
  const { tone, recent } = remembered.value;
  write({ tone, recent: [sign, ...recent.filter((each) => each !== sign)].slice(0, MOST_RECENT) });
}

/** @returns {{tone: number, recent: string[]}} */
function read() {
  const { tone, recent } = storedValue({ tone: 0, recent: [] }, KEPT);
  return {
    tone: Number.isInteger(tone) && tone >= 0 && tone <= 5 ? tone : 0,
    recent: recent.filter(isSign).slice(0, MOST_RECENT),
  };
}

/** @param {{tone: number, recent: string[]}} changed */
function write(changed) {
  remembered.value = changed;
  storeValue(KEPT, changed);
}
