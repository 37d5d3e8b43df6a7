// Lists the threads that the user follows, sorted by their latest reply.

/**
 * @import { Reply } from "../../types/wire.js"
 *
 * @typedef {Reply<"threads">["threads"][number]} FollowedThread
 */

import { channelsById } from "../../state/channels.js";
import { openSidePanel } from "../../state/navigation.js";
import { ask, connection } from "../../state/server.js";
import { threads } from "../../state/threads.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { Skeletons } from "../parts/skeletons.js";
import { explain, t } from "../../words/words.js";
import { SidePanel, EmptyState } from "../parts/side_panel.js";
import { Button } from "../parts/button.js";
import { MessageLine } from "./message_line.js";

/** @param {{onClose: () => void}} props */
export function Threads({ onClose }) {
  const [followed, setFollowed] = useState(/** @type {FollowedThread[]} */ ([]));
  const [{ more, busy, problem }, setState] = useState({ more: false, busy: true, problem: "" });
  const fetchMore = async (/** @type {string | null | undefined} */ before) => {
    setState({ more: false, busy: true, problem: "" });
    try {
      const page = await ask("threads", before ? { before } : {});
      setFollowed((known) => [...(before ? known : []), ...page.threads]);
      setState({ more: page.more, busy: false, problem: "" });
    } catch (error) {
      setState({ more: false, busy: false, problem: explain(error) });
    }
  };
  useEffect(() => {
    fetchMore(null);
  }, [connection.value === "online"]);
  return html`<${SidePanel} title=${t("threads")} onClose=${onClose}>
    ${!followed.length && !busy && !problem && html`<${EmptyState} icon="thread">${t("no-threads")}<//>`}
    <ul class="message-lines">
      ${followed.map((thread) => html`<${Followed} key=${thread.thread} followed=${thread} />`)}
    </ul>
    ${busy && html`<${Skeletons} rows=${3} />`}
    ${
      problem &&
      html`<p class="error">
        ${problem} <${Button} look="link" onClick=${() => fetchMore(null)}>${t("try-again")}<//>
      </p>`
    }
    ${more && html`<${Button} onClick=${() => fetchMore(followed.at(-1)?.last)}>${t("search-more")}<//>`}
  <//>`;
}

/** @param {{followed: FollowedThread}} props */
function Followed({ followed: { channel_id: channelId, thread, root } }) {
  const unread = threads.value.get(thread)?.unread ?? 0;
  const open = () => openSidePanel("thread", { channelId, thread });
  const where = channelsById.value.get(channelId)?.name;
  if (root)
    return html`<${MessageLine}
      message=${root}
      where=${where}
      note=${unread > 0 && t("unread-count", { count: unread })}
      onOpen=${open}
    />`;
  return html`<li class="message-line">
    <p class="quiet">${t("thread-closed")}</p>
    <${Button} look="link" onClick=${open}>${t("go-to-message")}<//>
  </li>`;
}
