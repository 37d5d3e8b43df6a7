// Private conversations in the list of channels, latest first, with their unread counts.

/** @import { PrivateConversation } from "../../state/private_conversations.js" */

import { may } from "../../state/channels.js";
import { openConversation, place, showDialog } from "../../state/navigation.js";
import { isBlocked, nameOf, conversations } from "../../state/private_conversations.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { IconButton } from "../parts/button.js";
import { ConversationPicture } from "./conversation_picture.js";

export function ConversationList() {
  return html`
    <div class="list-heading">
      <h3>${t("private-messages")}</h3>
      ${
        may("send_messages") &&
        html`<${IconButton}
          icon="add"
          label=${t("private-group")}
          class="add"
          onClick=${() => showDialog("private-group")}
        />`
      }
    </div>
    <ul id="private-talks">
      ${conversations.value.map(
        (conversation) => html`<${Entry} key=${conversation.id} conversation=${conversation} />`,
      )}
    </ul>
  `;
}

/** @param {{conversation: PrivateConversation}} props */
function Entry({ conversation }) {
  const name = nameOf(conversation);
  const unread = isBlocked(conversation) ? 0 : conversation.unread;
  return html`<li>
    <div class="channel-row">
      <button
        type="button"
        class=${`channel ${unread ? "unread mentioned" : ""}`}
        aria-current=${place.value?.conversationId === conversation.id ? "page" : undefined}
        onClick=${() => openConversation(conversation.id)}
      >
        <${ConversationPicture} conversation=${conversation} />
        <span class="channel-name" dir="auto">${name}</span>
        ${
          unread > 0 &&
          html`
            <span class="badge" aria-hidden="true">${unread}</span>
            <span class="unseen">${t("unread-count", { count: unread })}</span>
          `
        }
      </button>
    </div>
  </li>`;
}
