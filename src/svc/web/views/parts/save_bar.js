// Renders the bar at the bottom of a settings page that has unsaved changes. Switches and choices outside
// such a form apply at once and have no bar.

/** @import { ComponentChildren, RefObject } from "../../vendor/preact.js" */

import { html, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "./button.js";

/**
 * A form shows the bar while there are unsaved changes. A form that creates something has no `onDiscard` and
 * always shows the bar. `children` are more buttons, and `attributes` are for the save button.
 * @param {{action?: string, onDiscard?: () => void, children?: ComponentChildren, [attribute: string]:
 *   unknown}} props
 */
export function SaveBar({ action = t("save"), onDiscard, children, ...attributes }) {
  /** @type {RefObject<HTMLElement>} */
  const bar = useRef(null);
  // When the bar disappears, keep the focus on the page.
  useLayoutEffect(() => {
    const shown = bar.current;
    const page = /** @type {HTMLElement | null} */ (shown.closest(".settings-page"));
    return () => {
      if (shown.contains(document.activeElement)) page?.focus({ preventScroll: true });
    };
  }, []);
  return html`<footer class="action-bar" ref=${bar}>
    ${
      onDiscard &&
      html`
        <span>${t("unsaved-changes")}</span>
        <${Button} onClick=${onDiscard}>${t("discard")}<//>
      `
    }
    ${children}
    <${Button} look="primary" type="submit" ...${attributes}>${action}<//>
  </footer>`;
}
