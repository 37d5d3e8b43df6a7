// Renders the save bar at the bottom of a form with unsaved changes. Switches and choices outside forms take
// effect immediately and need no bar.

/** @import { ComponentChildren, RefObject } from "../../vendor/preact.js" */

import { html, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "./button.js";

/**
 * The save bar. Forms render it while there are unsaved changes. Forms that create something always render
 * it, without `onDiscard`. `children` are additional buttons, and `attributes` are for the save button.
 * @param {{action?: string, onDiscard?: () => void, children?: ComponentChildren, [attribute: string]:
 *   unknown}} props
 */
export function SaveBar({ action = t("save"), onDiscard, children, ...attributes }) {
  /** @type {RefObject<HTMLElement>} */
  const bar = useRef(null);
  // When the bar disappears with the focus in it, focus the settings page.
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
