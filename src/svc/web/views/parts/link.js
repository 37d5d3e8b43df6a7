// Links out of the page, which tell the other side nothing of us.

/** @import { ComponentChildren } from "../../vendor/preact.js" */

import { html } from "../../vendor/preact.js";

/** The address if a browser may follow it from a message, null otherwise: http and https alone. @param {string} text */
export function webAddress(text) {
  try {
    const url = new URL(text);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
  } catch {
    return null;
  }
}

/** A link, or the words alone where the address leads nowhere. @param {{address?: string | null, children: ComponentChildren, [attribute: string]: unknown}} props */
export function Link({ address, children, ...rest }) {
  const href = webAddress(address ?? "");
  return href === null ? html`<span ...${rest}>${children}</span>` : html`<a href=${href} target="_blank" rel="noopener noreferrer" ...${rest}>${children}</a>`;
}
