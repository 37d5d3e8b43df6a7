// Shows dialogs about one message: the confirmation of its deletion, and the members who reacted to it.

/** @import { Held, Shown } from "./message.js" */

import { acts } from "../../state/message_actions.js";
import { tryOrNotify } from "../../state/notices.js";
import { nameNow } from "../../state/people.js";
import { html } from "../../vendor/preact.js";
import { quoted } from "./message.js";
import { Sign } from "./reactions.js";
import { Confirm, Dialog } from "../parts/dialog.js";
import { PersonRow } from "../people/members.js";
import { t } from "../../words/words.js";

/** @param {{message: Shown, onClose: () => void}} props */
export function RemoveMessage({ message, onClose }) {
  return html`<${Confirm}
    title=${t("delete-message-title")}
    text=${t("delete-message-text")}
    action=${t("delete-message")}
    onConfirm=${() => tryOrNotify(acts.remove(message))}
    onClose=${onClose}
  >
    <blockquote dir="auto"><b>${nameNow(message.author)}</b> ${quoted(message)}</blockquote>
  <//>`;
}

/** @param {{message: Shown, conversation: Held, onClose: () => void}} props */
export function Reacted({ message, conversation, onClose }) {
  const held = conversation.messages.value.find(({ id }) => id === message.id);
  const { reactions } = held && "reactions" in held ? held : message;
  return html`<${Dialog} title=${t("reactions")} onClose=${onClose} class="reacted">
    ${!reactions.length && html`<p class="quiet">${t("no-reactions")}</p>`}
    ${reactions.map(
      ({ emoji, member_ids: ids }) => html`<section key=${emoji}>
        <h3>
          <${Sign} sign=${emoji} />
          <span class="quiet">${t("reaction-count", { count: ids.length })}</span>
        </h3>
        <ul class="person-rows">${ids.map((id) => html`<${PersonRow} key=${id} id=${id} />`)}</ul>
      </section>`,
    )}
  <//>`;
}
