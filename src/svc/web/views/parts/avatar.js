// Renders a member's avatar or, if there is none, their initials on a colour derived from their id.

/** @import { presenceOf } from "../../state/people.js" */

import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";

/**
 * An avatar with an indicator for `presence`, if given.
 * @param {{id: string, name: string, url?: string | null, presence?: ReturnType<typeof presenceOf> |
 *   "invisible", size?: "small" | "medium" | "large" | "huge"}} props
 */
export function Avatar({ id, name, url, presence, size = "medium" }) {
  return html`<span
    class=${`avatar ${size}`}
    aria-hidden="true"
    style=${{ "--hue": hue(id) }}
    data-presence=${presence}
  >
    ${url ? html`<img src=${url} alt="" loading="lazy" />` : initials(name)}
  </span>`;
}

/** The label next to a bot's name. Renders nothing for other members. @param {{bot?: boolean}} props */
export const BotSign = ({ bot }) => (bot ? html`<span class="bot-sign">${t("bot")}</span>` : null);

/** @param {string} name */
export function initials(name) {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? ["?"];
  const ends = words.length > 1 ? [words[0], words[words.length - 1]] : [words[0]];
  return ends
    .map((word) => [...word][0])
    .join("")
    .toUpperCase();
}

// Hues that are easy to tell apart. Hues from 30 to 130 degrees are left out, because they look brown when
// they are dark enough for white letters.
const HUES = [2, 142, 170, 205, 238, 262, 284, 306, 336];

/** Return a member's hue, which depends only on the id. @param {string} id */
export function hue(id) {
  let sum = 0;
  for (const letter of id) sum = (Math.imul(sum, 31) + (letter.codePointAt(0) ?? 0)) >>> 0;
  return HUES[sum % HUES.length];
}
