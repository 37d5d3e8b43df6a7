// One of our messages that the server has not received yet or has rejected.

/** @import { Item } from "../../state/outbox.js" */

import { draftOf, write } from "../../state/drafts.js";
import { discard, sendAgain } from "../../state/outbox.js";
import { connection, member } from "../../state/server.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Markdown } from "../message_text.js";
import { Avatar } from "../parts/avatar.js";
import { Button } from "../parts/button.js";

/** @param {{item: Item}} props */
export function Pending({ item }) {
  if (!member.value) return null;
  const { id, nickname, avatar } = member.value;
  const { nonce, text, attachments, state, problem, spot: conversationKey } = item;
  const takeBack = () => {
    const back = discard(nonce);
    // Insert this text before any text written since.
    write(conversationKey, [back?.text, draftOf(conversationKey).text.value].filter(Boolean).join("\n"));
  };
  return html`<li class=${`message pending ${state}`} tabindex="-1">
    <span class="avatar-place"><${Avatar} id=${id} name=${nickname} url=${avatar} /></span>
    <div class="body">
      <p class="byline"><strong class="author" dir="auto">${nickname}</strong></p>
      ${text && html`<div class="text" dir="auto"><${Markdown} text=${text} /></div>`}
      ${
        attachments.length > 0 && html`<p class="quiet">${t("file-count", { count: attachments.length })}</p>`
      }
      ${
        state === "refused"
          ? html`<p class="error" role="alert">
              ${t("not-sent", { reason: problem })} <${Button} look="link" onClick=${() => sendAgain(nonce)}>
                ${t("try-again")}
              <//> <${Button} look="link" onClick=${takeBack}>${t("take-back")}<//> <${Button}
                look="link"
                onClick=${() => discard(nonce)}
              >
                ${t("delete")}
              <//>
            </p>`
          : connection.value !== "online" && html`<p class="quiet">${t("sent-when-back")}</p>`
      }
    </div>
  </li>`;
}
