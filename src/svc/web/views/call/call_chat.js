// Shows a voice channel's text chat next to its call.

/** @import { Channel } from "../../types/api.js" */
/** @import { RefObject } from "../../vendor/preact.js" */
/** @import { Timeline } from "../conversation/timeline.js" */

import { conversationOf } from "../../state/conversation.js";
import { html, useEffect, useMemo, useRef } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { useDroppingIn } from "../composer/attachments.js";
import { Composer } from "../composer/composer.js";
import { Messages, Typing, useJumps } from "../conversation/conversation.js";
import { useRestoredFocus } from "../parts/focus.js";
import { IconButton } from "../parts/button.js";

/** @param {{channel?: Channel, onClose: () => void}} props */
export function CallChat({ channel, onClose }) {
  const elsewhere = channel?.type !== "voice"; // Text channels show messages in the main area.
  useEffect(() => {
    if (elsewhere) onClose();
  }, [elsewhere]);
  return elsewhere ? null : html`<${TextOf} key=${channel.id} channel=${channel} onClose=${onClose} />`;
}

/** @param {{channel: Channel, onClose: () => void}} props */
function TextOf({ channel, onClose }) {
  const conversation = useMemo(() => conversationOf(channel.id), [channel.id]);
  const timeline = useRef(/** @type {Timeline | null} */ (null));
  /** @type {RefObject<HTMLElement>} */
  const section = useRef(null);
  useRestoredFocus(section);
  useJumps(channel, conversation, timeline);
  const dropping = useDroppingIn(channel.id);
  return html`<section
    ref=${section}
    class="aside-body thread"
    aria-label=${t("call-text")}
    ...${dropping.on}
  >
    <header>
      <h2>${t("call-text")}</h2>
      <${IconButton} icon="close" label=${t("close")} onClick=${onClose} />
    </header>
    <${Messages} channel=${channel} conversation=${conversation} timeline=${timeline} />
    <${Typing} channel=${channel} />
    <${Composer} channel=${channel} timeline=${timeline} />
    ${dropping.shown}
  </section>`;
}
