// The message being replied to, and whether its author is notified.

/** @import { Quotable } from "../conversation/message.js" */

import { nameNow } from "../../state/people.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { quoted } from "../conversation/message.js";
import { IconButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";

/**
 * `onPing` is missing where the reply never notifies.
 * @param {{message: Quotable & {author: {display_name: string}}, ping?: boolean, onPing?: (() => void) |
 *   null, onClose: () => void}} props
 */
export function ReplyLine({ message, ping = false, onPing = null, onClose }) {
  return html`<div class="reply-line">
    <${Icon} name="reply" />
    <span class="one-line" dir="auto">
      ${t("replying-to", { name: nameNow(message.author) })} <span class="quiet">${quoted(message)}</span>
    </span>
    ${
      onPing &&
      html`<button
        type="button"
        class=${`button chip ${ping ? "on" : ""}`}
        aria-pressed=${ping}
        onClick=${onPing}
      >
        ${t("ping")}
      </button>`
    }
    <${IconButton} icon="close" label=${t("no-reply")} onClick=${onClose} />
  </div>`;
}
