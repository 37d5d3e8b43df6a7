// The thread of a message: its number of answers, and a button that opens it.

/** @import { Message } from "../../types/api.js" */

import { showAside } from "../../state/navigation.js";
import { threads } from "../../state/threads.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Icon } from "../parts/icon.js";
import { Time } from "../parts/time.js";

/** @param {{message: Pick<Message, "id" | "channel_id">, answers: NonNullable<Message["answers"]>}} props */
export function Answers({ message: { id, channel_id: channelId }, answers }) {
  const unread = threads.value.get(id)?.unread ?? 0;
  return html`<button
    type="button"
    class=${`answers ${unread ? "unread" : ""}`}
    onClick=${() => showAside("thread", { channelId, thread: id })}
  >
    <${Icon} name="thread" />
    <span>${t("answers", { count: answers.count })}</span>
    ${unread > 0 && html`<span class="badge">${t("unread-count", { count: unread })}</span>`}
    <span class="quiet"><${Time} ms=${answers.last_at_ms} style="ago" /></span>
  </button>`;
}
