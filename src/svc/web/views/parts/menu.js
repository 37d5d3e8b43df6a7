// A button that opens a menu: arrow keys move in it, Escape and a press elsewhere close it.

import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { Icon } from "./icon.js";
import { IconButton } from "./button.js";

/**
 * `items`: [{label, icon?, danger?, checked?, why?, onChoose}], falsy ones are left out, or a function that makes them. One with
 * `why` cannot be chosen, and says so. One with `items` instead of `onChoose` shows those in its place; one with `heading` alone is a heading.
 */
export function MenuButton({ icon = "more", label, items, class: look = "", children, ...rest }) {
  const [open, setOpen] = useState(false);
  const holder = useRef(null);
  const close = () => setOpen(false);
  const toggle = (event) => {
    event.stopPropagation();
    setOpen(!open);
  };
  return html`<span class="menu-holder" ref=${holder}>
    ${children
      ? html`<button type="button" class=${look} aria-haspopup="menu" aria-expanded=${open} onClick=${toggle} ...${rest}>${children}</button>`
      : html`<${IconButton} icon=${icon} label=${label} class=${look} aria-haspopup="menu" aria-expanded=${open} onClick=${toggle} ...${rest} />`}
    ${open && html`<${Menu} label=${label} items=${items} holder=${holder} onClose=${close} />`}
  </span>`;
}

let pointed = null; // Where the menu that opens next was asked for.

/** Press a menu's button for a right click or a long touch; the menu opens there. */
export function openWhere(event, button) {
  event.preventDefault();
  event.stopPropagation();
  if (button.ariaExpanded !== "true") pointed = whereOf(event);
  button.click();
}

/** The menu itself, within `holder`. `opener` has the focus again when it closes; `at` is where it was asked for. */
export function Menu({ label, items, holder, opener = null, at = pointed, onClose }) {
  const list = useRef(null);
  const anchor = useRef(at);
  const goBack = () => (opener ?? holder.current.querySelector("button"))?.focus();
  const [inner, setInner] = useState(null);
  useLayoutEffect(() => {
    if (!inner) list.current.showPopover();
    pointed = null;
    beside(list.current, anchor.current ?? holder.current);
    list.current.querySelector("button")?.focus();
  }, [inner]);
  const shown = inner ?? items;
  useEffect(() => {
    const elsewhere = (event) => { if (!holder.current?.contains(event.target)) onClose(); };
    document.addEventListener("pointerdown", elsewhere);
    return () => document.removeEventListener("pointerdown", elsewhere);
  }, []);
  const choose = (item) => {
    if (item.why) return;
    if (item.items) {
      setInner(() => item.items);
      return;
    }
    onClose();
    goBack();
    item.onChoose();
  };
  const pressed = (event) => {
    if (event.key === "Escape" || event.key === "Tab") {
      event.stopPropagation();
      event.preventDefault();
      onClose();
      goBack();
    } else moveAmong(event, [...list.current.querySelectorAll("button")]);
  };
  return html`<div class="menu" role="menu" aria-label=${label} popover="manual" ref=${list} onKeyDown=${pressed}>
    ${(typeof shown === "function" ? shown() : shown).filter(Boolean).map((item) => (item.heading
      ? html`<p class="menu-heading" key=${item.heading} role="presentation">${item.heading}</p>`
      : html`<${Item} key=${item.label} item=${item} onChoose=${choose} />`))}
  </div>`;
}

/** Where an event happened, as something to put a menu beside. */
export function whereOf({ clientX: start, clientY: top }) {
  return { getBoundingClientRect: () => ({ start, top, bottom: top }) };
}

function Item({ item, onChoose }) {
  const { label, icon, danger, checked, items, why } = item;
  return html`<button type="button" class=${danger ? "danger" : ""} tabindex="-1" role=${checked === undefined ? "menuitem" : "menuitemradio"}
    aria-checked=${checked} aria-haspopup=${items ? "menu" : undefined} aria-disabled=${why ? "true" : undefined} onClick=${() => onChoose(item)}>
    ${icon && html`<${Icon} name=${icon} />`}<span>${label}${why && html`<small>${why}</small>`}</span>${checked && html`<${Icon} name="check" />`}${items && html`<span class="further"><${Icon} name="back" /></span>`}
  </button>`;
}

/** Put `popup` beside `anchor`, within the window; `size` is what it will take, where that is not yet to be seen. */
export function beside(popup, anchor, size = { width: popup.offsetWidth, height: popup.offsetHeight }) {
  const at = anchor.getBoundingClientRect();
  const width = Math.min(size.width, innerWidth - 16);
  const height = Math.min(size.height, innerHeight - 16);
  const below = at.bottom + 4 + height <= innerHeight;
  const top = below ? at.bottom + 4 : Math.max(8, at.top - 4 - height);
  const left = Math.min(Math.max(8, at.start ?? at.right - width), innerWidth - width - 8);
  Object.assign(popup.style, { top: `${top}px`, left: `${Math.max(8, left)}px` });
}

/** Arrow keys, Home and End move the focus among these elements. */
export function moveAmong(event, elements) {
  const at = elements.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: elements.length - 1 }[event.key];
  if (to === undefined || !elements.length) return;
  event.preventDefault();
  elements[(to + elements.length) % elements.length].focus();
}
