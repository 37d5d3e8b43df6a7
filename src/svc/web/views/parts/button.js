// Renders text buttons and icon buttons. Tooltips (tooltips.js) show the accessible names of icon buttons.

/** @import { ComponentChildren } from "../../vendor/preact.js" */
/** @import { IconName } from "./icon.js" */

import { html } from "../../vendor/preact.js";
import { Icon } from "./icon.js";

/**
 * An icon button. `label` describes the action.
 * @param {{icon: IconName, label: string, class?: string, [attribute: string]: unknown}} props
 */
export function IconButton({ icon, label, class: look = "", ...rest }) {
  return html`<button
    type="button"
    class=${`icon-button ${look}`}
    aria-label=${label}
    ...${rest}
  >
    <${Icon} name=${icon} />
  </button>`;
}

/**
 * The search button in a header, which looks like a field unless the window is narrow.
 * @param {{label: string, [attribute: string]: unknown}} props
 */
export const SearchButton = ({ label, ...rest }) =>
  html`<button type="button" class="icon-button find" aria-label=${label} ...${rest}>
    <${Icon} name="search" /><span>${label}</span>
  </button>`;

/**
 * A text button. `look` is "primary", "danger", "link", other classes, or empty.
 * @param {{look?: string, icon?: IconName, type?: "button" | "submit", children: ComponentChildren,
 *   [attribute: string]: unknown}} props
 */
export function Button({ look = "", icon, children, type = "button", ...rest }) {
  return html`<button type=${type} class=${`button ${look}`} ...${rest}>
    ${icon && html`<${Icon} name=${icon} />`}${children}
  </button>`;
}
