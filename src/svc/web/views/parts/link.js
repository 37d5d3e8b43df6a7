// Links out of the page, without a referrer.

/** @import { ComponentChildren } from "../../vendor/preact.js" */

import { html } from "../../vendor/preact.js";

/**
 * Return the URL if a browser may follow it from a message, else null: http and https only.
 * @param {string} text
 */
export function webAddress(text) {
  try {
    const url = new URL(text);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
  } catch {
    return null;
  }
}

/**
 * A link, or plain text if the URL is not allowed.
 * @param {{address?: string | null, children: ComponentChildren, [attribute: string]: unknown}} props
 */
export function Link({ address, children, ...rest }) {
  const href = webAddress(address ?? "");
  return href === null
    ? html`<span ...${rest}>${children}</span>`
    : html`<a href=${href} target="_blank" rel="noopener noreferrer" ...${rest}>${children}</a>`;
}
