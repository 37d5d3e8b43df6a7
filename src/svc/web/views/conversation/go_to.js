// The way from a list beside the channel to a message of any channel or thread.

/** @import { Message } from "../../types/api.js" */

import { closeAside, open, showAside } from "../../state/place.js";

// As in style/home.css: what stands beside the channel covers it then.
const COVERED = "(max-width: 960px)";

/** @param {Pick<Message, "channel_id" | "id" | "thread">} message */
export function goTo({ channel_id: channelId, id, thread }) {
  if (!thread && matchMedia(COVERED).matches) closeAside();
  open(channelId, thread ? null : id);
  if (thread) showAside("thread", { channelId, thread, messageId: id });
}
