// Stores the recently used emoji and the chosen skin tone in this browser only.

import { storeValue, storedValue } from "../../transport/browser_storage.js";
import { signal } from "../../vendor/signals.js";

const STORED_EMOJI = "svc.emoji";
const MAX_RECENT = 16;
const MAX_SIGN_LENGTH = 40;

/**
 * Return whether a stored text could be an emoji or its name. Stored texts are untrusted.
 * @param {string} text
 */
export const isSign = (text) => text.length > 0 && text.length <= MAX_SIGN_LENGTH;

/** The skin tone (0 to 5) and the recently used emoji, latest first. */
export const remembered = signal(read());

/** @param {number} tone */
export const chooseTone = (tone) => write({ ...remembered.value, tone });

/** @param {string} sign */
export function used(sign) {
  const { tone, recent } = remembered.value;
  write({ tone, recent: [sign, ...recent.filter((other) => other !== sign)].slice(0, MAX_RECENT) });
}

/** @returns {{tone: number, recent: string[]}} */
function read() {
  const { tone, recent } = storedValue({ tone: 0, recent: [] }, STORED_EMOJI);
  return {
    tone: Number.isInteger(tone) && tone >= 0 && tone <= 5 ? tone : 0,
    recent: recent.filter(isSign).slice(0, MAX_RECENT),
  };
}

/** @param {{tone: number, recent: string[]}} changed */
function write(changed) {
  remembered.value = changed;
  storeValue(STORED_EMOJI, changed);
}
