// Buttons: with a symbol alone, whose name is heard and shown on hovering, or with words.

/** @import { ComponentChildren } from "../../vendor/preact.js" */
/** @import { IconName } from "./icon.js" */

import { html } from "../../vendor/preact.js";
import { Icon } from "./icon.js";

/** A symbol to press. `label` says what pressing does. @param {{icon: IconName, label: string, class?: string, [attribute: string]: unknown}} props */
export function IconButton({ icon, label, class: look = "", ...rest }) {
  return html`<button type="button" class=${`icon-button ${look}`} aria-label=${label} title=${label} ...${rest}><${Icon} name=${icon} /></button>`;
}

/** Words to press; `look` is "primary", "danger", "link", other classes or nothing. @param {{look?: string, icon?: IconName, type?: "button" | "submit", children: ComponentChildren, [attribute: string]: unknown}} props */
export function Button({ look = "", icon, children, type = "button", ...rest }) {
  return html`<button type=${type} class=${`button ${look}`} ...${rest}>${icon && html`<${Icon} name=${icon} />`}${children}</button>`;
}
