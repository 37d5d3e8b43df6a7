// Moving channels: they are shown moved at once, and moved back if the server refuses.

/** @import { Channel } from "../../types/api.js" */
/** @import { Where } from "./order.js" */

import { channels } from "../channels.js";
import { api } from "../server.js";
import { placed } from "./order.js";

/** Move a channel to a place given by `order.js`. @param {string} id @param {Where} where */
export async function moveChannel(id, where) {
  const before = channels.value;
  const wanted = placed(before, id, where);
  const byId = new Map(before.map((each) => [each.id, each]));
  const positions = before.map(({ position }) => position).sort((one, other) => one - other);
  channels.value = wanted.channel_ids.map((each, at) => ({
    .../** @type {Channel} */ (byId.get(each)),
    position: positions[at],
    ...(each in wanted.parents && { parent_id: wanted.parents[each] }),
  }));
  const shown = channels.value;
  try {
    await api("PUT", "/api/channels/order", wanted);
  } catch (error) {
    if (channels.value === shown) channels.value = before;
    throw error;
  }
}
