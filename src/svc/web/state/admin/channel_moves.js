// Moves a channel. The list shows the new position immediately, and reverts it if the server rejects the
// move.

/** @import { Channel } from "../../types/api.js" */
/** @import { Where } from "./channel_order.js" */

import { channels } from "../channels.js";
import { api } from "../server.js";
import { channelIn } from "./channel_order.js";

/**
 * Return the request body for moving a channel to a position.
 * @param {Channel[]} all
 * @param {string} id
 * @param {Where} where
 * @returns {{channel_ids: string[], parents: {[id: string]: string | null}}}
 */
function placed(all, id, { parentId, beforeId }) {
  const channel = channelIn(all, id);
  const others = all.filter((channel) => channel.id !== id);
  const at = beforeId ? others.findIndex((channel) => channel.id === beforeId) : others.length;
  const ids = [...others.slice(0, at), channel, ...others.slice(at)].map((channel) => channel.id);
  return { channel_ids: ids, parents: (channel.parent_id ?? null) === parentId ? {} : { [id]: parentId } };
}

/** Move a channel to a position from channel_order.js. @param {string} id @param {Where} where */
export async function moveChannel(id, where) {
  const before = channels.value;
  const wanted = placed(before, id, where);
  const byId = new Map(before.map((channel) => [channel.id, channel]));
  const positions = before.map(({ position }) => position).sort((a, b) => a - b);
  channels.value = wanted.channel_ids.map((id, at) => ({
    .../** @type {Channel} */ (byId.get(id)),
    position: positions[at],
    ...(id in wanted.parents && { parent_id: wanted.parents[id] }),
  }));
  const shown = channels.value;
  try {
    await api("PUT", "/api/channels/order", wanted);
  } catch (error) {
    if (channels.value === shown) channels.value = before;
    throw error;
  }
}
