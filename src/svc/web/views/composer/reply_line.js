// What is being answered, and whether its author hears of it.

import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { quoted } from "../conversation/message.js";
import { IconButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";

export function ReplyLine({ draft, reply: { message, ping } }) {
  const change = () => { draft.reply.value = { message, ping: !ping }; };
  return html`<div class="reply-line">
    <${Icon} name="reply" /><span class="one-line" dir="auto">${t("replying-to", { name: message.author.display_name })} <span class="quiet">${quoted(message)}</span></span>
    <button type="button" class=${`button chip ${ping ? "on" : ""}`} aria-pressed=${ping} onClick=${change}>${t("ping")}</button>
    <${IconButton} icon="close" label=${t("no-reply")} onClick=${() => { draft.reply.value = null; }} />
  </div>`;
}
