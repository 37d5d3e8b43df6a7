// Renders a member's avatar, or the initials on a colour derived from the member's id.

/** @import { presenceOf } from "../../state/people.js" */

import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";

/**
 * An avatar, with a mark for `presence` if given.
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

/** A mark next to a bot's name; nothing for other members. @param {{bot?: boolean}} props */
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

// Hues that are easy to tell apart. Between 30 and 130 degrees, colours dark enough for white letters look
// brown.
const HUES = [2, 142, 170, 205, 238, 262, 284, 306, 336];

/** Return the hue for a member, which is the same everywhere. @param {string} id */
export function hue(id) {
  let sum = 0;
  for (const letter of id) sum = (Math.imul(sum, 31) + (letter.codePointAt(0) ?? 0)) >>> 0;
  return HUES[sum % HUES.length];
}
