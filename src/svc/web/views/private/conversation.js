// Renders a private conversation: its members, messages and composer. The server receives only encrypted
// data, so there are no synchronised drafts, typing indicators or link previews.

/** @import { PrivateConversation as One } from "../../state/private_conversations.js" */
/** @import { Permission } from "../../types/wire.js" */

import { callChannel } from "../../call/current_call.js";
import { callConversation } from "../../call/private_calls.js";
import { hasPermission } from "../../state/channels.js";
import { leaveConversation, showDialog } from "../../state/navigation.js";
import { notify } from "../../state/notices.js";
import { memberOf } from "../../state/people.js";
import { privateClient } from "../../state/private_client.js";
import {
  conversationsById,
  conversationsKnown,
  isBlocked,
  nameOf,
  othersOf,
  problems,
} from "../../state/private_conversations.js";
import { connection, member } from "../../state/server.js";
import { html, useEffect, useMemo, useState } from "../../vendor/preact.js";
import { DrawerButton } from "../channels/sidebar.js";
import { useDropping } from "../composer/attachments.js";
import { Button, IconButton, SearchButton } from "../parts/button.js";
import { ConversationCall } from "./conversation_call.js";
import { ConversationComposer, withoutMetadata } from "./conversation_composer.js";
import { ConversationHistory } from "./conversation_history.js";
import { ConversationPicture } from "./conversation_list.js";
import { messagesOf } from "./message_adapter.js";
import { knows, t } from "../../words/words.js";

const DONE_WITH_IT = new Set(["add_reactions", "send_messages"]);

/** @param {{conversationId: string}} props */
export function PrivateConversation({ conversationId }) {
  const conversation = conversationsById.value.get(conversationId);
  useEffect(() => {
    if (conversationsKnown.value && !conversation) leaveConversation();
  }, [conversationsKnown.value, conversation]);
  if (!conversation)
    return html`<main class="empty">
      <p class="quiet">${connection.value === "online" ? t("loading") : t("offline-text")}</p>
    </main>`;
  return html`<${Open} key=${conversationId} conversation=${conversation} />`;
}

/** @param {{conversation: One}} props */
function Open({ conversation }) {
  const [editing, setEditing] = useState(/** @type {string | null} */ (null));
  const members = conversation.members.join();
  const history = useMemo(
    () => ({ conversationId: conversation.id, thread: null, messages: messagesOf(conversation) }),
    [conversation.id, members],
  );
  const words = hindrance(conversation);
  const closed = isBlocked(conversation) || !othersOf(conversation).length;
  const allowed = useMemo(
    () => (/** @type {Permission} */ permission) =>
      !closed && DONE_WITH_IT.has(permission) && hasPermission("send_messages"),
    [closed],
  );
  const editLast = () => {
    const last = history.messages.value.findLast(
      (message) => !message.note && message.author.id === member.value?.id && !message.trouble,
    );
    if (last) setEditing(last.id);
  };
  const dropping = useDropping(
    () => !closed && hasPermission("send_messages"),
    async (files) => {
      const client = await privateClient();
      if (!closed && client.uploadsOf(conversation.id, withoutMetadata).add(files) === false)
        notify(t("too-many-files"));
    },
  );
  return html`<main id="private" class="conversation" ...${dropping.on}>
    <${Head} conversation=${conversation} />
    <${ConversationCall} conversation=${conversation} />
    ${conversation.asks.map(
      ({ thumbprint }) => html`<p key=${thumbprint} class="talk-ask" role="status">
        <span>${t("private-asked")}</span>
        <${Button} look="primary" onClick=${() => showDialog("private-earlier", { thumbprint })}>
          ${t("private-asked-look")}
        <//>
      </p>`,
    )}
    <${Content}
      conversation=${conversation}
      history=${history}
      hasPermission=${allowed}
      editing=${editing}
      onEdit=${setEditing}
    />
    ${words && html`<p id="private-state" class="private-state" role="status">${words}</p>`}
    <${ConversationComposer} conversation=${conversation} closed=${closed} editLast=${editLast} />
    ${dropping.shown}
  </main>`;
}

/**
 * Describe the conversation's problem, for example that nobody can read new messages yet. Return "" if there
 * is none.
 * @param {One} conversation
 */
function hindrance(conversation) {
  const name = nameOf(conversation);
  const problem = problems.value.get(conversation.id);
  if (isBlocked(conversation)) return t("private-blocked", { name });
  if (!othersOf(conversation).length) return t("private-nobody");
  if (conversation.verified === "lost") return t("private-verified-lost");
  if (problem) return knows(`private-${problem}`) ? t(`private-${problem}`) : problem;
  return conversation.stands === "alone"
    ? t("private-alone", { name })
    : conversation.stands === "outside"
      ? t("private-outside")
      : "";
}

/** @param {{conversation: One}} props */
function Head({ conversation }) {
  const [otherId] = othersOf(conversation);
  const other = conversation.two ? memberOf(otherId) : null;
  const name = nameOf(conversation);
  return html`<header class="head">
    <${DrawerButton} />
    <${ConversationPicture} conversation=${conversation} />
    <h1 id="private-name" dir="auto" tabindex="-1">
      ${
        conversation.two && other
          ? html`<button type="button" onClick=${() => showDialog("profile", { memberId: otherId })}>
              ${name}
            </button>`
          : name
      }
    </h1>
    <span class="head-actions">
      ${
        callChannel.value !== conversation.id &&
        othersOf(conversation).length > 0 &&
        !isBlocked(conversation) &&
        html`<${IconButton}
          icon="call"
          label=${t("private-call")}
          onClick=${() => callConversation(conversation.id)}
        />`
      }
      ${
        conversation.two &&
        other &&
        hasPermission("send_messages") &&
        html`<${IconButton}
          icon="invite"
          label=${t("private-add")}
          onClick=${() => showDialog("private-group", { with: [otherId] })}
        />`
      }
      ${
        !conversation.two &&
        html`<${IconButton}
          icon="people"
          label=${t("private-people")}
          onClick=${() => showDialog("private-people", { conversationId: conversation.id })}
        />`
      }
      <${SearchButton} label=${t("private-search")} onClick=${() => showDialog("private-search")} />
      <${IconButton}
        icon=${conversation.verified === "yes" ? "check" : "lock"}
        class=${conversation.verified === "lost" ? "with-news" : ""}
        label=${t("private-how")}
        onClick=${() => showDialog("private-number", { conversationId: conversation.id })}
      />
    </span>
  </header>`;
}

/** @param {Parameters<typeof ConversationHistory>[0]} props */
function Content(props) {
  const { conversation, history } = props;
  if (conversation.stands === "loading" && !history.messages.value.length) {
    const again = () => privateClient().then((made) => made.synchronise(conversation.id));
    return html`<div class="empty">
      ${
        problems.value.has(conversation.id)
          ? html`<${Button} onClick=${again}>${t("try-again")}<//>`
          : html`<p class="quiet">${t("loading")}</p>`
      }
    </div>`;
  }
  return html`<${ConversationHistory} ...${props} />`;
}
