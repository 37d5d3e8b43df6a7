// Renders a message in a list in the side panel: author, time, text, and a link that opens it in its channel
// or thread.

/** @import { Message } from "../../types/api.js" */
/** @import { Shown } from "./message.js" */

import { closeSidePanel, leaving, open, openSidePanel } from "../../state/navigation.js";
import { blocked, nameNow, pictureNow } from "../../state/people.js";
import { isSpoiler } from "../../state/uploads.js";
import { html } from "../../vendor/preact.js";
import { Markdown } from "../message_text.js";
import { Avatar } from "../parts/avatar.js";
import { Button } from "../parts/button.js";
import { Time } from "../parts/time.js";
import { t } from "../../words/words.js";

/**
 * `where` is the channel's name, if the context does not show it. `sign` is the character before the name.
 * @param {{message: Shown, where?: string | null, sign?: string, note?: string | false | null, onOpen: () =>
 *   void}} props
 */
export function MessageLine({ message, where = null, sign = "#", note = null, onOpen }) {
  const { author, text, fallback, posted_at_ms: postedAt } = message;
  const hidden = blocked.value.has(author.id);
  const attachments = hidden ? [] : message.attachments;
  const pictures = attachments.filter((file) => file.kind === "picture" && file.url && !isSpoiler(file));
  const others = attachments.length - pictures.length;
  // A click anywhere on the line opens the message, unless it is on a button or link, or text is selected.
  const pressed = (/** @type {EventOn} */ { target }) =>
    target.closest("a, button") || getSelection()?.isCollapsed === false || onOpen();
  return html`<li class="message-line" onClick=${pressed}>
    <p class="byline">
      <${Avatar} id=${author.id} name=${nameNow(author)} url=${pictureNow(author)} size="small" />
      <b dir="auto">${nameNow(author)}</b>
      ${note && html`<span class="badge">${note}</span>`}
      ${where && html`<span class="quiet" dir="auto">${sign}${where}</span>`}
      <${Time} ms=${postedAt} style="ago" />
    </p>
    <div class="text" dir="auto">
      ${
        hidden
          ? html`<p class="quiet">${t("blocked-message")}</p>`
          : text
            ? html`<${Markdown} text=${text} message=${message} />`
            : html`<p>${fallback}</p>`
      }
    </div>
    ${
      pictures.length > 0 &&
      html`<p class="line-pictures">
        ${pictures.map(
          ({ id, url, thumbnail, alt, name }) =>
            html`<img
              key=${id}
              src=${thumbnail?.url ?? url}
              alt=${alt || name}
              loading="lazy"
              decoding="async"
            />`,
        )}
      </p>`
    }
    ${others > 0 && html`<p class="quiet">${t("file-count", { count: others })}</p>`}
    <${Button} look="link" onClick=${onOpen}>${t("go-to-message")}<//>
  </li>`;
}

// Up to this width, the side panel covers the channel, as in style/home.css.
const COVERED = "(max-width: 960px)";

/** @param {Pick<Message, "channel_id" | "id" | "thread">} message */
export function goTo({ channel_id: channelId, id, thread }) {
  if (!thread && matchMedia(COVERED).matches) {
    leaving.keeps = true;
    closeSidePanel();
  }
  open(channelId, thread ? null : id);
  if (thread) openSidePanel("thread", { channelId, thread, messageId: id });
}
