// Stores the appearance settings, which apply only to this browser.

import { storeValue, storedValue } from "../transport/browser_storage.js";
import { effect, signal } from "../vendor/signals.js";

const STORED_LOOK = "svc.look";
const DEFAULTS = { theme: "system", motion: "system", density: "cosy", textSize: 100, emoticons: true };
export const TEXT_SIZES = [87.5, 100, 112.5, 125, 150];

/**
 * The settings: {theme: "system" | "light" | "dark", motion: "system" | "reduced", density: "cosy" |
 * "compact", textSize: in percent, emoticons: whether emoticons such as ":)" become emoji}
 */
export const appearance = signal(known(storedValue(DEFAULTS, STORED_LOOK)));

/** @param {Partial<typeof DEFAULTS>} changes */
export const setAppearance = (changes) => {
  appearance.value = { ...appearance.value, ...changes };
};

/** Store the settings and apply them to the style sheets, now and whenever they change. */
export function applyAppearance(root = document.documentElement) {
  effect(() => {
    const { theme, motion, density, textSize } = appearance.value;
    storeValue(STORED_LOOK, appearance.value);
    root.dataset.theme = theme;
    root.dataset.motion = motion;
    root.dataset.density = density;
    root.style.setProperty("--text-size", `${textSize}%`);
  });
}

/**
 * Return the stored settings. Replace an unknown text size with the default, because it could make the page
 * and its settings unreadable.
 * @param {typeof DEFAULTS} stored
 */
function known(stored) {
  return TEXT_SIZES.includes(stored.textSize) ? stored : { ...stored, textSize: DEFAULTS.textSize };
}
