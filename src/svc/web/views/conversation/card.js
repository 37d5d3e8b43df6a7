// Renders webhook cards (see docs/webhooks.md) and link previews. Their text is untrusted. In cards, titles,
// names and footers are plain text, and all other text is Markdown. Unsafe links are shown as text, and
// images come from this server.

/** @import { Preview as Previewed } from "../../types/api.js" */
/** @import { ComponentChildren } from "../../vendor/preact.js" */

import { html } from "../../vendor/preact.js";
import { Picture } from "./attachments.js";
import { webAddress } from "../markdown/links.js";
import { Markdown } from "../message_text.js";
import { Time } from "../parts/time.js";

/**
 * @import { MessageCard, StoredPicture } from "../../types/api.js"
 *
 * Any property can be missing or null.
 * @typedef {{[Part in keyof MessageCard]: MessageCard[Part] | null}} Parts
 */

const THUMBNAIL = { widest: 80, highest: 80 };
const ICON = { widest: 20, highest: 20 };

/** @param {{card: Parts}} props */
export function Card({ card }) {
  const { title, url, description, color, author, fields, image, thumbnail, footer, timestamp } = card;
  const line =
    color === undefined || color === null
      ? {}
      : { borderInlineStartColor: `#${color.toString(16).padStart(6, "0")}` };
  return html`<article class="webhook-card" style=${line} dir="auto">
    ${
      author &&
      html`<p class="card-author">
        <${Small} icon=${author.icon} />
        <${Link} address=${author.url}>${author.name}<//>
      </p>`
    }
    ${title && html`<h3><${Link} address=${url}>${title}<//></h3>`}
    ${description && html`<div class="text"><${Markdown} text=${description} /></div>`}
    ${
      fields &&
      fields.length > 0 &&
      html`<dl>
        ${fields.map(
          (field, index) =>
            html`<div key=${index} class=${field.inline ? "inline" : ""}>
              <dt>${field.name}</dt>
              <dd class="text"><${Markdown} text=${field.value} /></dd>
            </div>`,
        )}
      </dl>`
    }
    ${image && html`<${Picture} picture=${image} />`}
    ${thumbnail && html`<div class="thumbnail"><${Picture} picture=${thumbnail} room=${THUMBNAIL} /></div>`}
    ${(footer || timestamp) && html`<${Bottom} footer=${footer} timestamp=${timestamp} />`}
  </article>`;
}

/** @param {Pick<Parts, "footer" | "timestamp">} props */
function Bottom({ footer, timestamp }) {
  const ms = timestamp ? Date.parse(timestamp) : NaN;
  const hasTime = !Number.isNaN(ms);
  return html`<p class="card-footer">
    <${Small} icon=${footer?.icon} />${footer?.text}${footer?.text && hasTime && " · "}
    ${hasTime && html`<${Time} ms=${ms} style="day" />`}
  </p>`;
}

/** @param {{icon?: StoredPicture}} props */
function Small({ icon }) {
  return icon ? html`<${Picture} picture=${icon} room=${ICON} />` : null;
}

/**
 * A link, or plain text if the URL is not allowed.
 * @param {{address?: string | null, children: ComponentChildren, [attribute: string]: unknown}} props
 */
export function Link({ address, children, ...rest }) {
  const href = webAddress(address ?? "")?.href;
  return href === undefined
    ? html`<span ...${rest}>${children}</span>`
    : html`<a href=${href} target="_blank" rel="noopener noreferrer" ...${rest}>${children}</a>`;
}

const ROOM = { widest: 320, highest: 180 };
const SMALL = { widest: 80, highest: 80 };

/** @param {{previews: Previewed[]}} props */
export function Previews({ previews }) {
  return html`<ul class="previews">
    ${previews.map((preview) => html`<li key=${preview.url}><${Preview} preview=${preview} /></li>`)}
  </ul>`;
}

/**
 * A link preview with the link's host. Renders nothing if the URL is not safe to open in a browser.
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
