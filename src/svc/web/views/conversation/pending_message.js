// Renders one of the user's messages that the server has not yet received or has rejected. The message keeps
// its height once it has been sent.

/** @import { Author } from "../../types/api.js" */
/** @import { Item } from "../../state/outbox.js" */
/** @import { ComponentChildren } from "../../vendor/preact.js" */
/** @import { Held } from "./message.js" */

import { draftOf, write } from "../../state/drafts.js";
import { discard, sendAgain } from "../../state/outbox.js";
import { connection, member } from "../../state/server.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Markdown } from "../message_text.js";
import { Button } from "../parts/button.js";
import { AuthorAvatar, Byline, Replied } from "./message.js";

/**
 * @template {{atMs: number, reply: {id: string} | null}} I
 * @typedef {{id: string, author: Author, posted_at_ms: number, reply_to: string | null, item: I}} Unsent
 */

/**
 * Return a pending message in the format of a sent message. Its time is at least the latest message's time.
 * @template {{atMs: number, reply: {id: string} | null}} I
 * @param {I} item @param {string} key @param {number} latest
 * @returns {Unsent<I>}
 */
export function asMessage(item, key, latest) {
  const { id = "", nickname = "", avatar = null } = member.value ?? {};
  return {
    id: key,
    author: { kind: "member", id, display_name: nickname, avatar, bot: false },
    posted_at_ms: Math.max(item.atMs, latest),
    reply_to: item.reply?.id ?? null,
    item,
  };
}

/**
 * `files` is the number of files, and `children` is rendered below the text.
 * @param {{message: Unsent<any>, follows: boolean, conversation: Held, state: string, text: string, files:
 *   number, children: ComponentChildren}} props
 */
export function PendingLine({ message, follows, conversation, state, text, files, children }) {
  const { author, reply_to: replied } = message;
  return html`<li class=${`message pending ${state} ${follows ? "follows" : ""}`} tabindex="-1">
    ${!follows && html`<${AuthorAvatar} author=${author} />`}
    <div class="body">
      <${Byline} message=${message} follows=${follows} />
      ${replied !== null && html`<${Replied} id=${replied} conversation=${conversation} />`}
      ${text && html`<div class="text" dir="auto"><${Markdown} text=${text} /></div>`}
      ${files > 0 && html`<p class="quiet">${t("file-count", { count: files })}</p>`}
      ${children}
    </div>
  </li>`;
}

/** @param {{message: Unsent<Item>, follows: boolean, conversation: Held}} props */
export function Pending({ message, follows, conversation }) {
  const { nonce, text, attachments, state, problem, spot: conversationKey } = message.item;
  const takeBack = () => {
    const back = discard(nonce);
    // Insert this text before any text that has been typed since.
    write(conversationKey, [back?.text, draftOf(conversationKey).text.value].filter(Boolean).join("\n"));
  };
  const line = { message, follows, conversation, state, text, files: attachments.length };
  return html`<${PendingLine} ...${line}>
    ${
      state === "refused"
        ? html`<p class="error" role="alert">
            ${t("not-sent", { reason: problem })} <${Button} look="link" onClick=${() => sendAgain(nonce)}>
              ${t("try-again")}
            <//> <${Button} look="link" onClick=${takeBack}>${t("edit-unsent")}<//> <${Button}
              look="link"
              onClick=${() => discard(nonce)}
            >
              ${t("delete")}
            <//>
          </p>`
        : connection.value !== "online" && html`<p class="quiet">${t("sent-when-back")}</p>`
    }
  <//>`;
}
