// Lists private conversations in the sidebar, latest first, with their avatars and unread counts.

/** @import { PrivateConversation } from "../../state/private_conversations.js" */

import { hasPermission } from "../../state/channels.js";
import { openConversation, currentLocation, showDialog } from "../../state/navigation.js";
import { memberOf, presenceOf } from "../../state/people.js";
import { conversations, isBlocked, nameOf, othersOf } from "../../state/private_conversations.js";
import { shortCount } from "../../state/unread_counts.js";
import { html } from "../../vendor/preact.js";
import { Avatar } from "../parts/avatar.js";
import { IconButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { t } from "../../words/words.js";

export function ConversationList() {
  return html`
    <div class="list-heading">
      <h3>${t("private-messages")}</h3>
      ${
        hasPermission("send_messages") &&
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
        aria-current=${currentLocation.value?.conversationId === conversation.id ? "page" : undefined}
        onClick=${() => openConversation(conversation.id)}
      >
        <${ConversationPicture} conversation=${conversation} />
        <span class="channel-name" dir="auto">${name}</span>
        ${
          unread > 0 &&
          html`
            <span class="badge" aria-hidden="true">${shortCount(unread)}</span>
            <span class="unseen">${t("unread-count", { count: unread })}</span>
          `
        }
      </button>
    </div>
  </li>`;
}

/** @param {{conversation: Pick<PrivateConversation, "members" | "two">}} props */
export function ConversationPicture({ conversation }) {
  const shown = othersOf(conversation).slice(0, conversation.two ? 1 : 2);
  const pictures = shown.map((id) => {
    const person = memberOf(id);
    return html`<${Avatar}
      key=${id}
      id=${id}
      name=${person?.nickname ?? t("somebody")}
      url=${person?.avatar}
      presence=${conversation.two ? presenceOf(id) : undefined}
      size="small"
    />`;
  });
  if (!shown.length) return html`<${Icon} name="people" />`;
  return shown.length > 1 ? html`<span class="several">${pictures}</span>` : pictures;
}
