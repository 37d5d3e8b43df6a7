// How the person wants the page to look: kept in this browser only.

import { effect, signal } from "../vendor/signals.js";

const KEPT = "svc.look";
const USUAL = { theme: "system", density: "cosy", textSize: 100 };

/** {theme: "system" | "light" | "dark", density: "cosy" | "compact", textSize: per cent} */
export const look = signal({ ...USUAL, ...JSON.parse(localStorage.getItem(KEPT) ?? "{}") });

export const choose = (changes) => { look.value = { ...look.value, ...changes }; };

/** Keep it, and let the style sheets know. */
export function wearLook(root = document.documentElement) {
  effect(() => {
    const { theme, density, textSize } = look.value;
    localStorage.setItem(KEPT, JSON.stringify(look.value));
    root.dataset.theme = theme;
    root.dataset.density = density;
    root.style.setProperty("--text-size", `${textSize}%`);
  });
}
