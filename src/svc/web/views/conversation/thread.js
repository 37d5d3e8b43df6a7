// Shows a thread in the side panel: its root message, its replies and a composer.

/** @import { Message as Posted } from "../../types/api.js" */
/** @import { Permission } from "../../types/wire.js" */
/** @import { RefObject } from "../../vendor/preact.js" */
/** @import { Timeline } from "./timeline.js" */

import { channelsById, hasPermission, conversationKeyOf } from "../../state/channels.js";
import { conversationOf, fetchMessage } from "../../state/conversation.js";
import { tryOrNotify } from "../../state/notices.js";
import { connection } from "../../state/server.js";
import { follow, threads } from "../../state/threads.js";
import { html, useEffect, useMemo, useRef, useState } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { Composer } from "../composer/composer.js";
import { focusMessageField, useRestoredFocus } from "../parts/focus.js";
import { IconButton } from "../parts/button.js";
import { Messages } from "./conversation.js";
import { Message } from "./message.js";

/**
 * If `writes` is set, the message field receives the focus.
 * @param {{channelId: string, thread: string, messageId?: string | null, writes?: boolean, onClose: () =>
 *   void}} props
 */
export function Thread({ channelId, thread, messageId = null, writes = false, onClose }) {
  const channel = channelsById.value.get(channelId);
  const conversation = useMemo(
    () => conversationOf(conversationKeyOf(channelId, thread)),
    [channelId, thread],
  );
  const [root, problem] = useRoot(channelId, thread);
  const timeline = useRef(/** @type {Timeline | null} */ (null));
  const loaded = conversation.loaded.value;
  /** @type {RefObject<HTMLElement>} */
  const section = useRef(null);
  useRestoredFocus(section);
  useEffect(() => {
    if (messageId && loaded) timeline.current?.reveal(messageId);
  }, [messageId, loaded]);
  useEffect(() => {
    if (writes && root) focusMessageField(conversation.key);
  }, [writes, !root]);
  useEffect(() => {
    if (!channel) onClose();
  }, [channel]);
  if (!channel) return null;
  const following = threads.value.has(thread);
  const permitted = (/** @type {Permission} */ permission) => hasPermission(permission, channelId);
  const waiting = problem ? "" : t(connection.value === "online" ? "loading" : "offline-text");
  const first = root
    ? html`<ol class="thread-root">
        <${Message}
          message=${root}
          follows=${false}
          replied=${null}
          conversation=${conversation}
          hasPermission=${permitted}
          onEdit=${() => {}}
        />
      </ol>`
    : html`<p class="quiet thread-root">${root === null ? t("thread-closed") : waiting}</p>`;
  return html`<section ref=${section} class="aside-body thread" aria-label=${t("thread")}>
    <header>
      <h2>${t("thread")}</h2>
      <${IconButton}
        icon=${following ? "bell" : "bell-off"}
        label=${following ? t("unfollow-thread") : t("follow-thread")}
        onClick=${() => tryOrNotify(follow(channelId, thread, !following))}
      />
      <${IconButton} icon="close" label=${t("close")} onClick=${onClose} />
    </header>
    ${problem && html`<p class="error">${problem}</p>`}
    <${Messages} channel=${channel} conversation=${conversation} timeline=${timeline} root=${first} />
    ${
      root &&
      html`<${Composer} key=${conversation.key} channel=${channel} thread=${thread} timeline=${timeline} />`
    }
  </section>`;
}

/**
 * Return the thread's root message and the error that occurred when fetching it, if any. The message is
 * fetched only if it is not loaded in the channel. It is null if it was deleted, and undefined until it is
 * available.
 * @param {string} channelId @param {string} thread @returns {[Posted | null | undefined, string]}
 */
function useRoot(channelId, thread) {
  const [fetched, setFetched] = useState(
    /** @type {{of: string, root?: Posted | null, problem: string}} */ ({ of: "", problem: "" }),
  );
  const held = conversationOf(channelId).messages.value.find(({ id }) => id === thread);
  const known = fetched.of === thread ? fetched : null;
  useEffect(() => {
    if (held) return;
    fetchMessage(channelId, thread).then(
      (root) => setFetched({ of: thread, root, problem: "" }),
      (error) =>
        setFetched(
          error.code === "unknown_message"
            ? { of: thread, root: null, problem: "" }
            : { of: thread, root: known?.root, problem: explain(error) },
        ),
    );
  }, [channelId, thread, !held, connection.value === "online"]);
  return held ? [held, ""] : [known?.root, known?.problem ?? ""];
}
