// Previews of a message's links. The text is untrusted and shown as plain text; pictures come from our own
// server.

/** @import { Preview as Previewed } from "../../types/api.js" */

import { html } from "../../vendor/preact.js";
import { webAddress } from "../markdown/links.js";
import { Link } from "../parts/link.js";
import { Picture } from "./attachments.js";

const ROOM = { widest: 320, highest: 180 };
const SMALL = { widest: 80, highest: 80 };

/** @param {{previews: Previewed[]}} props */
export function Previews({ previews }) {
  return html`<ul class="previews">
    ${previews.map((preview) => html`<li key=${preview.url}><${Preview} preview=${preview} /></li>`)}
  </ul>`;
}

/**
 * Always shows the host that a click opens. Our server may have reached hosts that browsers refuse.
 * @param {{preview: Previewed}} props
 */
function Preview({ preview: { url, title, description, image } }) {
  const host = webAddress(url)?.hostname;
  if (!host) return null;
  const wide = image && image.width >= 2 * SMALL.widest;
  return html`<article class=${`preview ${image && !wide ? "with-small" : ""}`} dir="auto">
    <p class="quiet">${host}</p>
    ${title && html`<h3><${Link} address=${url}>${title}<//></h3>`}
    ${description && html`<p class="preview-text">${description}</p>`}
    ${
      image &&
      html`<div class="preview-picture"><${Picture} picture=${image} room=${wide ? ROOM : SMALL} /></div>`
    }
  </article>`;
}
