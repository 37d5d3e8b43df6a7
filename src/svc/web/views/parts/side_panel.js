// Renders side panels and a placeholder for empty ones. Also restores the search in a panel or dialog when
// Back returns to it.

/**
 * @import { ComponentChildren, RefObject } from "../../vendor/preact.js"
 * @import { Open } from "../../state/navigation.js"
 */

import { html, useId, useRef, useLayoutEffect, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { IconButton } from "./button.js";
import { useRestoredFocus } from "./focus.js";
import { Icon } from "./icon.js";

/** @param {{title: string, onClose: () => void, children: ComponentChildren}} props */
export function SidePanel({ title, onClose, children }) {
  const id = useId();
  /** @type {RefObject<HTMLElement>} */
  const body = useRef(null);
  useRestoredFocus(body);
  return html`<section ref=${body} class="aside-body" aria-labelledby=${id}>
    <header>
      <h2 id=${id}>${title}</h2>
      <${IconButton} icon="close" label=${t("close")} onClick=${onClose} />
    </header>
    ${children}
  </section>`;
}

/** @param {{icon: Parameters<typeof Icon>[0]["name"], children: ComponentChildren}} props */
export const EmptyState = ({ icon, children }) =>
  html`<div class="nothing-here">
    <${Icon} name=${icon} />
    <p class="quiet">${children}</p>
  </div>`;

/**
 * The searches in panels and dialogs that were left by opening a result. `at` is that result's index.
 * @type {WeakMap<Open, {search: any, at: number}>}
 */
const left = new WeakMap();

/**
 * Return the search to restore in this panel or dialog, if any, and a function to call when a result is
 * opened. Move the focus back to that result or, if there is none, to `field`.
 * @template T
 * @param {Open | null} opened
 * @param {RefObject<HTMLElement>} field
 * @param {RefObject<HTMLElement>} lines
 * @returns {[T | undefined, (search: T, at: number) => void]}
 */
export function useSearchResults(opened, field, lines) {
  const [before] = useState(opened && left.get(opened));
  useLayoutEffect(() => {
    const followed = before && lines.current.children[before.at]?.querySelector(":scope > .button");
    /** @type {HTMLElement} */ (followed ?? field.current).focus();
  }, []);
  return [before?.search, (search, at) => opened && left.set(opened, { search, at })];
}
