// Open a message of any channel or thread from a list in the side panel.

/** @import { Message } from "../../types/api.js" */

import { closeAside, open, showAside } from "../../state/navigation.js";

// As in style/home.css: below this width the panel covers the channel.
const COVERED = "(max-width: 960px)";

/** @param {Pick<Message, "channel_id" | "id" | "thread">} message */
export function goTo({ channel_id: channelId, id, thread }) {
  if (!thread && matchMedia(COVERED).matches) closeAside();
  open(channelId, thread ? null : id);
  if (thread) showAside("thread", { channelId, thread, messageId: id });
}
