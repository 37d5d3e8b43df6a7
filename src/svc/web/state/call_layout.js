// Decides which tiles in a call are large and which are small. The views render the result.

/** @import { Signal } from "../vendor/signals.js" */
/** @typedef {{id: string, own: boolean, screen?: unknown, unwatched?: boolean}} Pictured */

import { storeValue, storedValue } from "../transport/browser_storage.js";
import { effect, signal } from "../vendor/signals.js";

const STORED_LAYOUT = "svc.callLayout"; // In sessionStorage, so that a reload restores the layout.
/** @type {{mode: "grid" | "speaker", pinned: string, onlySound: boolean}} */
const DEFAULTS = { mode: "grid", pinned: "", onlySound: false };
const before = storedValue(DEFAULTS, STORED_LAYOUT, "sessionStorage");

/**
 * The layout: "grid" (equal tiles) or "speaker" (the speaker is large).
 * @type {Signal<"grid" | "speaker">}
 */
export const mode = signal(before.mode);
/** The pinned tile: "camera ID" or "screen ID" with a member's id, or "". */
export const pinned = signal(before.pinned);
/** Whether other members' videos are hidden to save bandwidth and battery. */
export const onlySound = signal(before.onlySound);
effect(() =>
  storeValue(
    STORED_LAYOUT,
    { mode: mode.value, pinned: pinned.value, onlySound: onlySound.value },
    "sessionStorage",
  ),
);

/** The keys of the large tiles, in the same format as `pinned`. */
export const focused = signal(/** @type {string[]} */ ([]));
export const tilePx = signal(Infinity);

/** @param {string} key */
export const pin = (key) => {
  pinned.value = pinned.value === key ? "" : key;
};

/**
 * Return the large and the small tiles: {large: [key], small: [key]}. If `large` is empty, all tiles have the
 * same size. `people` comes from participants.js; `speaker` is the id of the last speaker, or null.
 * @param {Pictured[]} people @param {{mode: "grid" | "speaker", pinned: string, speaker: string | null}} how
 */
export function arranged(people, { mode: how, pinned: held, speaker }) {
  const screens = people.filter(({ screen }) => screen).map(({ id }) => `screen ${id}`);
  // Put unwatched screens before the cameras, where they are easy to find.
  const others = [
    ...people.filter(({ unwatched }) => unwatched).map(({ id }) => `screen ${id}`),
    ...people.map(({ id }) => `camera ${id}`),
  ];
  if (held && [...screens, ...others].includes(held)) {
    return { large: [held], small: [...screens, ...others].filter((key) => key !== held) };
  }
  if (screens.length) return { large: screens, small: others };
  if (how !== "speaker" || people.length < 3) return { large: [], small: others };
  const other =
    people.find(({ id, own }) => id === speaker && !own) ??
    /** @type {Pictured} */ (people.find(({ own }) => !own));
  return { large: [`camera ${other.id}`], small: others.filter((key) => key !== `camera ${other.id}`) };
}
