// The bar at the bottom of a settings page that has unsaved changes. Switches and choices outside such a form
// apply at once and have no bar.

/** @import { ComponentChildren, RefObject } from "../../vendor/preact.js" */

import { html, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "./button.js";

/**
 * A form shows it while something has changed. A form that creates something has no `onDiscard` and shows it
 * always. `children` are further buttons, and `attributes` are those of the button that saves.
 * @param {{action?: string, onDiscard?: () => void, children?: ComponentChildren, [attribute: string]:
 *   unknown}} props
 */
export function SaveBar({ action = t("save"), onDiscard, children, ...attributes }) {
  /** @type {RefObject<HTMLElement>} */
  const bar = useRef(null);
  // The bar disappears with the changes. The focus stays on the page.
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
