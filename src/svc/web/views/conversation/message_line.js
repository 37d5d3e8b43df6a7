// A message in a list beside the channel: who, when, the text, and the way to it.

import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Markdown } from "../message_text.js";
import { Avatar } from "../parts/avatar.js";
import { Button } from "../parts/button.js";
import { Time } from "../parts/time.js";

/** `where`: the name of its channel, where that is not plain; `sign` stands before it. */
export function MessageLine({ message, where = null, sign = "#", note = null, onOpen }) {
  const { author, text, fallback, attachments, posted_at_ms: postedAt } = message;
  return html`<li class="message-line">
    <p class="byline"><${Avatar} id=${author.id} name=${author.display_name} url=${author.avatar} size="small" /><b dir="auto">${author.display_name}</b>
      ${where && html`<span class="quiet" dir="auto">${sign}${where}</span>`}<${Time} ms=${postedAt} style="day" /></p>
    <div class="text" dir="auto">${text ? html`<${Markdown} text=${text} message=${message} />` : html`<p>${fallback}</p>`}</div>
    ${attachments.length > 0 && html`<p class="quiet">${t("file-count", { count: attachments.length })}</p>`}
    ${note && html`<p><span class="badge">${note}</span></p>`}
    <${Button} look="link" onClick=${onOpen}>${t("go-to-message")}<//>
  </li>`;
}
