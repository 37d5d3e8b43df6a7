// Lists mentions of the user from all channels and threads in the side panel.

/** @import { RefObject } from "../../vendor/preact.js" */

import { channelsById } from "../../state/channels.js";
import { fetchMore, inbox, isUnread, lookIntoInbox, mentions, readMentions } from "../../state/inbox.js";
import { connection } from "../../state/server.js";
import { html, useEffect, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { goTo, MessageLine } from "./message_line.js";
import { SidePanel, EmptyState } from "../parts/side_panel.js";
import { Button } from "../parts/button.js";
import { Skeletons } from "../parts/skeletons.js";
import { explain, t } from "../../words/words.js";

/** @param {{onClose: () => void}} props */
export function Inbox({ onClose }) {
  /** @type {RefObject<HTMLElement>} */
  const list = useRef(null);
  useFocus(list);
  useEffect(() => {
    lookIntoInbox(true);
    return () => lookIntoInbox(false);
  }, []);
  const [shown, { more, busy, problem }] = [mentions.value, inbox.value];
  const waiting = shown.some(isUnread);
  return html`<${SidePanel} title=${t("inbox")} onClose=${onClose}>
    ${
      shown.length > 0 &&
      html`<p><${Button} look="chip" disabled=${!waiting} onClick=${readMentions}>${t("inbox-read")}<//></p>`
    }
    <ul class="message-lines" ref=${list} tabindex="-1" aria-label=${t("inbox")} aria-busy=${busy}>
      ${shown.map(
        (message) => html`<${MessageLine}
          key=${message.id}
          message=${message}
          where=${channelsById.value.get(message.channel_id)?.name}
          note=${isUnread(message) && t("inbox-new")}
          onOpen=${() => goTo(message)}
        />`,
      )}
    </ul>
    <div role="status">
      ${
        busy &&
        (connection.value === "online"
          ? html`<${Skeletons} rows=${3} />`
          : html`<p class="quiet">${t("offline-text")}</p>`)
      }
      ${
        !busy &&
        !problem &&
        !more &&
        !shown.length &&
        html`<${EmptyState} icon="mentions">${t("inbox-empty")}<//>`
      }
      ${problem && html`<p class="error">${explain(problem)}</p>`}
    </div>
    ${problem && html`<p><${Button} onClick=${fetchMore}>${t("try-again")}<//></p>`}
    ${more && !busy && !problem && html`<${Button} onClick=${fetchMore}>${t("search-more")}<//>`}
  <//>`;
}

/** Focus the list while it is open, and restore the focus afterwards. @param {RefObject<HTMLElement>} list */
function useFocus(list) {
  useLayoutEffect(() => {
    const before = document.activeElement;
    const held = list.current;
    held.focus();
    return () => {
      if (before?.isConnected && held.closest("section")?.contains(document.activeElement)) before.focus();
    };
  }, []);
}
