// How the people in a call are laid out: decided here, drawn by the views.

/** @import { Signal } from "../vendor/signals.js" */
/** @typedef {{id: string, own: boolean, screen?: unknown, unwatched?: boolean}} Pictured */

import { keep, keptLike } from "../transport/kept.js";
import { effect, signal } from "../vendor/signals.js";

const KEPT = "svc.callLayout"; // In sessionStorage, so that a reload finds the call as it was.
/** @type {{mode: "grid" | "speaker", pinned: string, onlySound: boolean}} */
const USUAL = { mode: "grid", pinned: "", onlySound: false };
const before = keptLike(USUAL, KEPT, "sessionStorage");

/** "grid" (all alike) or "speaker" (who speaks is large). @type {Signal<"grid" | "speaker">} */
export const mode = signal(before.mode);
/** What the person has pinned: "camera ID" or "screen ID" with a member's id, or "". */
export const pinned = signal(before.pinned);
/** Are other people's pictures not shown, to save what the line and the battery hold? */
export const onlySound = signal(before.onlySound);
effect(() => keep(KEPT, { mode: mode.value, pinned: pinned.value, onlySound: onlySound.value }, "sessionStorage"));

/** What is large now, as keys like `pinned`, and how wide the other tiles are. */
export const focused = signal(/** @type {string[]} */ ([]));
export const tilePx = signal(Infinity);

/** @param {string} key */
export const pin = (key) => { pinned.value = pinned.value === key ? "" : key; };

/**
 * Which tiles are large and which small: {large: [key], small: [key]}; `small` alone means that all are alike.
 * `people` as calling.js has them, `speaker` the id of who spoke last, or null.
 * @param {Pictured[]} people @param {{mode: "grid" | "speaker", pinned: string, speaker: string | null}} how
 */
export function arranged(people, { mode: how, pinned: held, speaker }) {
  const screens = people.filter(({ screen }) => screen).map(({ id }) => `screen ${id}`);
  // Before the cameras, so that somebody who may want to watch one need not look for it.
  const rest = [...people.filter(({ unwatched }) => unwatched).map(({ id }) => `screen ${id}`), ...people.map(({ id }) => `camera ${id}`)];
  if (held && [...screens, ...rest].includes(held)) {
    return { large: [held], small: [...screens, ...rest].filter((key) => key !== held) };
  }
  if (screens.length) return { large: screens, small: rest };
  if (how !== "speaker" || people.length < 3) return { large: [], small: rest };
  const other = people.find(({ id, own }) => id === speaker && !own) ?? /** @type {Pictured} */ (people.find(({ own }) => !own));
  return { large: [`camera ${other.id}`], small: rest.filter((key) => key !== `camera ${other.id}`) };
}
