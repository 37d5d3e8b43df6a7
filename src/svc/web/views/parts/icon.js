// Renders icons as lines on a 24-unit grid in the colour of the surrounding text.

/** @typedef {keyof typeof PATHS | keyof typeof import("../../vendor/icons_later.js").PATHS} IconName */

import { PATHS } from "../../vendor/icons.js";
import { html } from "../../vendor/preact.js";

/** @type {{[name: string]: string}} */
const paths = { ...PATHS };

/** Add the icons of the views that are loaded later. @param {typeof paths} more */
export const addIcons = (more) => Object.assign(paths, more);

/** @param {{name: IconName}} props */
export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" data-icon=${name}>
    <path d=${paths[name]} />
  </svg>`;
}
