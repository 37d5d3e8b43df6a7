// Opens a member's menu on right-click, long press or the menu key. The menu's code loads on first use.

/**
 * @typedef {{id: string, name: string}} Person
 * @typedef {Person & {opener: HTMLElement | null, at: ReturnType<typeof whereOf>}} MenuRequest
 */

import { html, useState } from "../../vendor/preact.js";
import { Lazy } from "../parts/lazy_component.js";
import { whereOf } from "../parts/menu.js";

const PersonMenu = Lazy(() => import("./person_menu.js"), "PersonMenu");

/**
 * Return a function that opens the menu for an event and a person, and the menu element to render. `opener`
 * receives the focus when the menu closes.
 */
export function usePersonMenu() {
  const [opening, setOpening] = useState(/** @type {MenuRequest | null} */ (null));
  const ask = (
    /** @type {MouseEvent} */ event,
    /** @type {Person} */ { id, name },
    /** @type {HTMLElement | null} */ opener,
  ) => {
    event.preventDefault();
    event.stopPropagation();
    setOpening({ id, name, opener, at: whereOf(event) });
  };
  const menu =
    opening && html`<${PersonMenu} key=${opening.at} opening=${opening} onClose=${() => setOpening(null)} />`;
  return /** @type {const} */ ([ask, menu]);
}
