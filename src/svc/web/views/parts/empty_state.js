// The content of an empty panel: a centred icon and sentence.

/** @import { ComponentChildren } from "../../vendor/preact.js" */

import { html } from "../../vendor/preact.js";
import { Icon } from "./icon.js";

/** @param {{icon: Parameters<typeof Icon>[0]["name"], children: ComponentChildren}} props */
export const EmptyState = ({ icon, children }) =>
  html`<div class="nothing-here">
    <${Icon} name=${icon} />
    <p class="quiet">${children}</p>
  </div>`;
