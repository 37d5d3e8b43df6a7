// Private conversations in the list of channels, latest first, with their unread counts.

/** @import { Talk } from "../../state/private_talks.js" */

import { may } from "../../state/channels.js";
import { openTalk, place, showDialog } from "../../state/navigation.js";
import { isBlocked, nameOf, talks } from "../../state/private_talks.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { IconButton } from "../parts/button.js";
import { TalkPicture } from "./conversation_picture.js";

export function Talks() {
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
    <ul id="private-talks">${talks.value.map((talk) => html`<${Entry} key=${talk.id} talk=${talk} />`)}</ul>
  `;
}

/** @param {{talk: Talk}} props */
function Entry({ talk }) {
  const name = nameOf(talk);
  const unread = isBlocked(talk) ? 0 : talk.unread;
  return html`<li>
    <div class="channel-row">
      <button
        type="button"
        class=${`channel ${unread ? "unread mentioned" : ""}`}
        aria-current=${place.value?.talkId === talk.id ? "page" : undefined}
        onClick=${() => openTalk(talk.id)}
      >
        <${TalkPicture} talk=${talk} />
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
