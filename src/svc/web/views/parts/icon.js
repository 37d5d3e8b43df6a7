// The page's icons: lines on a 24-unit grid, in the colour of the text around them.

/** @typedef {keyof typeof PATHS} IconName */

import { PATHS } from "../../vendor/icons.js";
import { html } from "../../vendor/preact.js";

/** @param {{name: IconName}} props */
export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" data-icon=${name}>
    <path d=${PATHS[name]} />
  </svg>`;
}
