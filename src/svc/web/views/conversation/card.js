// A webhook's card, with the parts described in docs/webhooks.md. Titles, names and footers are plain text,
// the rest is markdown. Unsafe links are shown as text.

/**
 * @import { ShownCard, StoredPicture } from "../../types/api.js"
 *
 * A part may be missing or null.
 * @typedef {{[Part in keyof ShownCard]: ShownCard[Part] | null}} Parts
 */

import { html } from "../../vendor/preact.js";
import { Markdown } from "../message_text.js";
import { Link } from "../parts/link.js";
import { Time } from "../parts/time.js";
import { Picture } from "./attachments.js";

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
