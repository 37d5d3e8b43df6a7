// Renders menus and their buttons. Arrow keys move within a menu. Escape, a click elsewhere or, on a phone,
// Back closes it. Also decides whether to use the phone layout, which has one column, a drawer for the
// channel list, and menus as bottom sheets. The class `handheld` on the root element selects this layout in
// style sheets.

/**
 * @import { ComponentChildren, RefObject } from "../../vendor/preact.js"
 * @import { IconName } from "./icon.js"
 */

import { addLayer } from "../../state/navigation.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { IconButton } from "./button.js";
import { Icon } from "./icon.js";

/**
 * A phone in portrait or landscape mode, or an equally narrow window. A tablet is wider, even when its
 * on-screen keyboard reduces the height.
 */
export const HANDHELD = matchMedia(
  "(max-width: 640px), (pointer: coarse) and (max-width: 960px) and (max-height: 480px)",
);
const COARSE = matchMedia("(pointer: coarse)");

/** Return whether menus are shown as bottom sheets, as in style/later/touch.css. */
export const hasSheets = () => HANDHELD.matches && COARSE.matches;

const mark = () => document.documentElement.classList.toggle("handheld", HANDHELD.matches);
HANDHELD.addEventListener("change", mark);
mark();

/**
 * An item with `why` is disabled and shows the reason. An item with `items` instead of `onChoose` opens a
 * submenu in place. A line separates an `apart` item from the items above. Items with a `sign`, such as an
 * emoji, are side by side and show only the sign.
 * @typedef {{label: string, icon?: IconName, sign?: unknown, danger?: boolean, apart?: boolean, checked?:
 *   boolean, why?: string | null, onChoose?: () => unknown, items?: Items, heading?: undefined}} Item
 * Falsy items are ignored.
 * @typedef {(Item | {heading: string} | Nothing)[]} ItemList
 * @typedef {ItemList | (() => ItemList)} Items
 * @typedef {false | null | undefined | ""} Nothing The element, or the point, next to which a menu or popup
 *   is placed. `start` is the position of the left edge.
 * @typedef {{getBoundingClientRect: () => {top: number, bottom: number} & ({right: number, start?: undefined}
 *   | {start: number})}} Anchor
 */

/**
 * A button that opens a menu. `onOpen` is called with whether the menu is open.
 * @param {{icon?: IconName, label: string, items: Items, class?: string, children?: ComponentChildren,
 *   onOpen?: (open: boolean) => void, [attribute: string]: unknown}} props
 */
export function MenuButton({ icon = "more", label, items, class: look = "", children, onOpen, ...rest }) {
  const [open, setOpen] = useState(false);
  /** @type {RefObject<HTMLElement>} */
  const holder = useRef(null);
  const show = (/** @type {boolean} */ value) => {
    setOpen(value);
    onOpen?.(value);
  };
  const toggle = (/** @type {Event} */ event) => {
    event.stopPropagation();
    show(!open);
  };
  return html`<span class="menu-holder" ref=${holder}>
    ${
      children
        ? html`<button
            type="button"
            class=${look}
            aria-haspopup="menu"
            aria-expanded=${open}
            onClick=${toggle}
            ...${rest}
          >
            ${children}
          </button>`
        : html`<${IconButton}
            icon=${icon}
            label=${label}
            class=${look}
            aria-haspopup="menu"
            aria-expanded=${open}
            onClick=${toggle}
            ...${rest}
          />`
    }
    ${open && html`<${Menu} label=${label} items=${items} holder=${holder} onClose=${() => show(false)} />`}
  </span>`;
}

/** The position for the next menu if a right-click or a long press opens it. @type {Anchor | null} */
let pointed = null;

/**
 * Open a button's menu at the position of a right-click or a long press.
 * @param {MouseEvent} event
 * @param {HTMLElement} button
 */
export function openWhere(event, button) {
  event.preventDefault();
  event.stopPropagation();
  if (button.ariaExpanded !== "true") pointed = whereOf(event);
  button.click();
}

/**
 * A menu, rendered within `holder`. `opener` receives the focus when the menu closes. `at` is the menu's
 * position.
 * @param {{label: string, items: Items, holder: RefObject<HTMLElement>, opener?: HTMLElement | null, at?:
 *   Anchor | null, onClose: () => void}} props
 */
export function Menu({ label, items, holder, opener = null, at = pointed, onClose }) {
  /** @type {RefObject<HTMLElement>} */
  const list = useRef(null);
  const anchor = useRef(at);
  useLayer(onClose);
  const goBack = () => (opener ?? holder.current.querySelector("button"))?.focus();
  const [inner, setInner] = useState(/** @type {Item | null} */ (null));
  useLayoutEffect(() => {
    if (!inner) list.current.showPopover();
    pointed = null;
    positionNextTo(list.current, anchor.current ?? holder.current);
    list.current.querySelector("button")?.focus();
  }, [inner]);
  const shown = inner?.items ?? items;
  useEffect(() => {
    const elsewhere = (/** @type {Event} */ event) => {
      if (!holder.current?.contains(/** @type {Node} */ (event.target))) onClose();
    };
    document.addEventListener("pointerdown", elsewhere);
    return () => document.removeEventListener("pointerdown", elsewhere);
  }, []);
  const choose = (/** @type {Item} */ item) => {
    if (item.why) return;
    if (item.items) {
      setInner(item);
      return;
    }
    onClose();
    goBack();
    item.onChoose?.();
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape" || event.key === "Tab") {
      event.stopPropagation();
      event.preventDefault();
      onClose();
      goBack();
    } else moveAmong(event, [...list.current.querySelectorAll("button")]);
  };
  const listed = (typeof shown === "function" ? shown() : shown).filter((item) => !!item);
  const withIcons = listed.some((item) => item.heading === undefined && item.icon);
  return html`<div
    class=${withIcons ? "menu with-icons" : "menu"}
    role="menu"
    aria-label=${label}
    popover="manual"
    ref=${list}
    onKeyDown=${pressed}
  >
    ${listed.map((item) =>
      item.heading !== undefined
        ? html`<p class="menu-heading" dir="auto" key=${item.heading} role="presentation">${item.heading}</p>`
        : html`<${Item} key=${item.label} item=${item} onChoose=${choose} />`,
    )}
  </div>`;
}

/** Return an event's position as an anchor for a menu. @param {MouseEvent} event @returns {Anchor} */
export function whereOf({ clientX: start, clientY: top }) {
  return { getBoundingClientRect: () => ({ start, top, bottom: top }) };
}

/** @param {{item: Item, onChoose: (item: Item) => void}} props */
function Item({ item, onChoose }) {
  const { label, icon, sign, danger, apart, checked, items, why } = item;
  return html`<button
    type="button"
    class=${`${danger ? "danger" : ""} ${apart ? "apart" : ""} ${sign ? "sign" : ""}`}
    aria-label=${sign ? label : undefined}
    tabindex="-1"
    role=${checked === undefined ? "menuitem" : "menuitemradio"}
    aria-checked=${checked}
    aria-haspopup=${items ? "menu" : undefined}
    aria-disabled=${why ? "true" : undefined}
    onClick=${() => onChoose(item)}
  >
    ${icon && html`<${Icon} name=${icon} />`}
    ${sign ?? html`<span dir="auto">${label}${why && html`<small>${why}</small>`}</span>`}
    ${checked && html`<${Icon} name="check" />`}
    ${items && html`<span class="further"><${Icon} name="back" /></span>`}
  </button>`;
}

/**
 * Place `popup` next to `anchor` and within the window, even if the window shrinks later. `size` is the
 * popup's expected size if it cannot be measured yet.
 * @param {HTMLElement} popup
 * @param {Anchor} anchor
 * @param {{width: number, height: number}} [size]
 */
export function positionNextTo(
  popup,
  anchor,
  size = { width: popup.offsetWidth, height: popup.offsetHeight },
) {
  const at = anchor.getBoundingClientRect();
  const { width, height } = size;
  const below = at.bottom + 4 + Math.min(height, innerHeight - 16) <= innerHeight;
  Object.assign(popup.style, {
    top: `clamp(8px, ${below ? at.bottom + 4 : at.top - 4 - height}px, 100dvh - ${height + 8}px)`,
    left: `clamp(8px, ${at.start ?? at.right - width}px, 100vw - ${width + 8}px)`,
  });
}

/**
 * Move the focus among these elements with arrow keys, Home and End.
 * @param {KeyboardEvent} event
 * @param {HTMLElement[]} elements
 */
export function moveAmong(event, elements) {
  const at = elements.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: elements.length - 1 }[event.key];
  if (to === undefined || !elements.length) return;
  event.preventDefault();
  elements[(to + elements.length) % elements.length].focus();
}

/**
 * Make Back close a menu on a phone. In a large window, Back does not close menus, because opening a menu
 * would clear the browser's forward history.
 * @param {() => void} onClose
 */
export function useLayer(onClose) {
  const close = useRef(onClose);
  close.current = onClose;
  useLayoutEffect(() => (HANDHELD.matches ? addLayer(() => close.current()) : undefined), []);
}

/** A component that makes Back close part of a view on a phone. @param {{onClose: () => void}} props */
export function Layer({ onClose }) {
  useLayer(onClose);
  return null;
}
