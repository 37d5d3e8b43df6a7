// What managers do to channels. What they move is shown moved at once, and back again if the server refuses.

import { channels } from "../channels.js";
import { api } from "../server.js";
import { placed } from "./order.js";
import { keyOf } from "./privacy.js";

const path = (id, rest = "") => `/api/channels/${encodeURIComponent(id)}${rest}`;

/** Resolves with the channel. `wanted`: {name, type, topic?, slow_mode_s?, parent_id?, overrides?}. */
export const createChannel = (wanted) => api("POST", "/api/channels", wanted);
export const editChannel = (id, changes) => api("PATCH", path(id), changes);
export const deleteChannel = (id) => api("DELETE", path(id));

/** Those that were put away. */
export async function archivedChannels() {
  const { channels: all } = await api("GET", "/api/channels?archived=true");
  return all.filter(({ archived }) => archived);
}

/** Put a channel where `order.js` says. */
export async function moveChannel(id, where) {
  const before = channels.value;
  const wanted = placed(before, id, where);
  const byId = new Map(before.map((each) => [each.id, each]));
  const positions = before.map(({ position }) => position).sort((one, other) => one - other);
  channels.value = wanted.channel_ids.map((each, at) => ({ ...byId.get(each), position: positions[at], ...(each in wanted.parents && { parent_id: wanted.parents[each] }) }));
  const shown = channels.value;
  try {
    await api("PUT", "/api/channels/order", wanted);
  } catch (error) {
    if (channels.value === shown) channels.value = before;
    throw error;
  }
}

/** A channel's overrides: [{type, target_id, allow, deny}]. */
export const overridesOf = async (id) => (await api("GET", path(id, "/overrides"))).overrides;

/** Put one override, or take it away where it says nothing. */
export function putOverride(id, { type, target_id: target, allow, deny }) {
  const where = path(id, `/overrides/${type}/${encodeURIComponent(target)}`);
  return allow.length || deny.length ? api("PUT", where, { allow, deny }) : api("DELETE", where);
}

/** The list of overrides with one of them changed. */
export function replaced(overrides, override) {
  const others = overrides.filter((each) => keyOf(each) !== keyOf(override));
  return override.allow.length || override.deny.length ? [...others, override] : others;
}
