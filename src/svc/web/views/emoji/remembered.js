// Which emoji somebody used last, and in which skin tone: kept in this browser only.

import { signal } from "../../vendor/signals.js";

const KEPT = "svc.emoji";
const MOST_RECENT = 16;

/** {tone: 0 to 5, recent: signs, the last first} */
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
  try {
    const { tone, recent } = JSON.parse(globalThis.localStorage.getItem(KEPT) ?? "{}");
    const signs = Array.isArray(recent) ? recent.filter((/** @type {unknown} */ each) => typeof each === "string") : [];
    return { tone: Number.isInteger(tone) && tone >= 0 && tone <= 5 ? tone : 0, recent: signs.slice(0, MOST_RECENT) };
  } catch {
    return { tone: 0, recent: [] };
  }
}

/** @param {{tone: number, recent: string[]}} changed */
function write(changed) {
  remembered.value = changed;
  try {
    globalThis.localStorage.setItem(KEPT, JSON.stringify(changed));
  } catch {
    // Storage is full or forbidden; it is remembered until the page goes.
  }
}
