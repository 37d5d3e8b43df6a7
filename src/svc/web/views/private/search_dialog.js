// Shows the dialog for searching the private messages in this browser. The server learns nothing about the
// search.

/** @import { DecryptedMessage } from "../../state/private/content.js" */
/** @import { RefObject } from "../../vendor/preact.js" */

import { foldCase } from "../../state/name_search.js";
import { dialog, leaving, openConversation } from "../../state/navigation.js";
import { nameOf, privateMessages, conversations } from "../../state/private_conversations.js";
import { html, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { MessageLine } from "../conversation/message_line.js";
import { plain } from "../message_text.js";
import { Dialog } from "../parts/dialog.js";
import { useSearchResults } from "../parts/side_panel.js";
import { messagesOf } from "./message_adapter.js";

const MAX_RESULTS = 50;

/** @param {{onClose: () => void}} props */
export function SearchDialog({ onClose }) {
  /** @type {RefObject<HTMLInputElement>} */
  const field = useRef(null);
  /** @type {RefObject<HTMLElement>} */
  const lines = useRef(null);
  const [opened] = useState(dialog.peek());
  /** @type {ReturnType<typeof useSearchResults<string>>} */
  const [before, follow] = useSearchResults(opened, field, lines);
  const [wanted, setWanted] = useState(before ?? "");
  const matches = foundFor(wanted);
  return html`<${Dialog} title=${t("private-search")} onClose=${onClose}>
    <div class="stack">
      <input
        ref=${field}
        type="search"
        dir="auto"
        aria-label=${t("private-search-field")}
        placeholder=${t("private-search-field")}
        autocomplete="off"
        value=${wanted}
        onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => setWanted(event.currentTarget.value)}
      />
      <p class="quiet" role="status">
        ${wanted.trim() && !matches.length ? t("nothing-found") : t("private-search-text")}
      </p>
      <ul class="message-lines" ref=${lines} aria-label=${t("private-search")}>${matches.map(
        ({ conversation, message }, at) => html`<${MessageLine}
          key=${`${conversation.id} ${message.id}`}
          message=${message}
          where=${nameOf(conversation)}
          sign=""
          onOpen=${() => {
            follow(wanted, at);
            leaving.keeps = true;
            openConversation(conversation.id, message.id);
          }}
        />`,
      )}</ul>
    </div>
  <//>`;
}

/** Return the newest messages that contain all words in the query. @param {string} wanted */
function foundFor(wanted) {
  const words = foldCase(wanted).split(/\s+/u).filter(Boolean);
  if (!words.length) return [];
  const fits = (/** @type {DecryptedMessage} */ { text, trouble }) =>
    !trouble && words.every((word) => foldCase(plain(text)).includes(word));
  const hits = conversations.value.flatMap((conversation) => {
    const ids = new Set((privateMessages.value.get(conversation.id) ?? []).filter(fits).map(({ id }) => id));
    return ids.size
      ? messagesOf(conversation).value.flatMap((message) =>
          !message.note && ids.has(message.id) ? [{ conversation, message }] : [],
        )
      : [];
  });
  return hits.sort((a, b) => b.message.posted_at_ms - a.message.posted_at_ms).slice(0, MAX_RESULTS);
}
