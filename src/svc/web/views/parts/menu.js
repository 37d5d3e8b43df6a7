// A button that opens a menu: arrow keys move in it, Escape and a press elsewhere close it.

/** @import { ComponentChildren, RefObject } from "../../vendor/preact.js" */
/** @import { IconName } from "./icon.js" */

import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { Icon } from "./icon.js";
import { IconButton } from "./button.js";
import { useLayer } from "./layer.js";

/**
 * One with `why` cannot be chosen, and says so. One with `items` instead of `onChoose` shows those in its place.
 * @typedef {{label: string, icon?: IconName, danger?: boolean, checked?: boolean, why?: string | null, onChoose?: () => unknown, items?: Items, heading?: undefined}} Item
 * Falsy ones are left out.
 * @typedef {(Item | {heading: string} | Nothing)[]} ItemList
 * @typedef {ItemList | (() => ItemList)} Items
 * @typedef {false | null | undefined | ""} Nothing
 * What a menu or a popup is put beside; `start` is where its left edge shall be.
 * @typedef {{getBoundingClientRect: () => {top: number, bottom: number} & ({right: number, start?: undefined} | {start: number})}} Anchor
 */

/** `onOpen` is told whether the menu is open. @param {{icon?: IconName, label: string, items: Items, class?: string, children?: ComponentChildren, onOpen?: (open: boolean) => void, [attribute: string]: unknown}} props */
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
    ${children
      ? html`<button type="button" class=${look} aria-haspopup="menu" aria-expanded=${open} onClick=${toggle} ...${rest}>${children}</button>`
      : html`<${IconButton} icon=${icon} label=${label} class=${look} aria-haspopup="menu" aria-expanded=${open} onClick=${toggle} ...${rest} />`}
    ${open && html`<${Menu} label=${label} items=${items} holder=${holder} onClose=${() => show(false)} />`}
  </span>`;
}

/** Where the menu that opens next was asked for. @type {Anchor | null} */
let pointed = null;

/** Press a menu's button for a right click or a long touch; the menu opens there. @param {MouseEvent} event @param {HTMLElement} button */
export function openWhere(event, button) {
  event.preventDefault();
  event.stopPropagation();
  if (button.ariaExpanded !== "true") pointed = whereOf(event);
  button.click();
}

/**
 * The menu itself, within `holder`. `opener` has the focus again when it closes; `at` is where it was asked for.
 * @param {{label: string, items: Items, holder: RefObject<HTMLElement>, opener?: HTMLElement | null, at?: Anchor | null, onClose: () => void}} props
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
    beside(list.current, anchor.current ?? holder.current);
    list.current.querySelector("button")?.focus();
  }, [inner]);
  const shown = inner?.items ?? items;
  useEffect(() => {
    const elsewhere = (/** @type {Event} */ event) => { if (!holder.current?.contains(/** @type {Node} */ (event.target))) onClose(); };
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
  return html`<div class=${withIcons ? "menu with-icons" : "menu"} role="menu" aria-label=${label} popover="manual" ref=${list} onKeyDown=${pressed}>
    ${listed.map((item) => (item.heading !== undefined
      ? html`<p class="menu-heading" dir="auto" key=${item.heading} role="presentation">${item.heading}</p>`
      : html`<${Item} key=${item.label} item=${item} onChoose=${choose} />`))}
  </div>`;
}

/** Where an event happened, as something to put a menu beside. @param {MouseEvent} event @returns {Anchor} */
export function whereOf({ clientX: start, clientY: top }) {
  return { getBoundingClientRect: () => ({ start, top, bottom: top }) };
}

/** @param {{item: Item, onChoose: (item: Item) => void}} props */
function Item({ item, onChoose }) {
  const { label, icon, danger, checked, items, why } = item;
  return html`<button type="button" class=${danger ? "danger" : ""} tabindex="-1" role=${checked === undefined ? "menuitem" : "menuitemradio"}
    aria-checked=${checked} aria-haspopup=${items ? "menu" : undefined} aria-disabled=${why ? "true" : undefined} onClick=${() => onChoose(item)}>
    ${icon && html`<${Icon} name=${icon} />`}<span dir="auto">${label}${why && html`<small>${why}</small>`}</span>${checked && html`<${Icon} name="check" />`}${items && html`<span class="further"><${Icon} name="back" /></span>`}
  </button>`;
}

/** Put `popup` beside `anchor`, within the window; `size` is what it will take, where that is not yet to be seen. @param {HTMLElement} popup @param {Anchor} anchor @param {{width: number, height: number}} [size] */
export function beside(popup, anchor, size = { width: popup.offsetWidth, height: popup.offsetHeight }) {
  const at = anchor.getBoundingClientRect();
  const width = Math.min(size.width, innerWidth - 16);
  const height = Math.min(size.height, innerHeight - 16);
  const below = at.bottom + 4 + height <= innerHeight;
  const top = below ? at.bottom + 4 : Math.max(8, at.top - 4 - height);
  const left = Math.min(Math.max(8, at.start ?? at.right - width), innerWidth - width - 8);
  Object.assign(popup.style, { top: `${top}px`, left: `${Math.max(8, left)}px` });
}

/** Arrow keys, Home and End move the focus among these elements. @param {KeyboardEvent} event @param {HTMLElement[]} elements */
export function moveAmong(event, elements) {
  const at = elements.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: elements.length - 1 }[event.key];
  if (to === undefined || !elements.length) return;
  event.preventDefault();
  elements[(to + elements.length) % elements.length].focus();
}
