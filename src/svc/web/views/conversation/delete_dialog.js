// The confirmation before a message is deleted.

/** @import { Shown } from "./message.js" */

import { acts } from "../../state/message_actions.js";
import { tried } from "../../state/notices.js";
import { nameNow } from "../../state/people.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Confirm } from "../parts/dialog.js";
import { quoted } from "./message.js";

/** @param {{message: Shown, onClose: () => void}} props */
export function RemoveMessage({ message, onClose }) {
  return html`<${Confirm}
    title=${t("delete-message-title")}
    text=${t("delete-message-text")}
    action=${t("delete-message")}
    onConfirm=${() => tried(acts.remove(message))}
    onClose=${onClose}
  >
    <blockquote dir="auto"><b>${nameNow(message.author)}</b> ${quoted(message)}</blockquote>
  <//>`;
}
