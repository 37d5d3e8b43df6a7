// Managers' requests that create, change and delete channels.

/** @import { Override } from "../../types/api.js" */
/** @import { Body, PathOf } from "../../types/wire.js" */

import { api } from "../server.js";
import { keyOf } from "./channel_privacy.js";

const path = /** @type {PathOf<"/api/channels">} */ (
  (id, /** @type {any} */ rest = "") => `/api/channels/${encodeURIComponent(id)}${rest}`
);

/**
 * Create a channel. Resolves with it. `wanted` is {name, type, topic?, slow_mode_s?, parent_id?, overrides?}.
 * @param {Body<"POST", "/api/channels">} wanted
 */
export const createChannel = (wanted) => api("POST", "/api/channels", wanted);
/** @param {string} id @param {Body<"PATCH", `/api/channels/${string}`>} changes */
export const editChannel = (id, changes) => api("PATCH", path(id), changes);
/** @param {string} id */
export const deleteChannel = (id) => api("DELETE", path(id));

/** Fetch the archived channels. */
export async function archivedChannels() {
  const { channels: all } = await api("GET", "/api/channels?archived=true");
  return all.filter(({ archived }) => archived);
}

/** Return a channel's overrides: [{type, target_id, allow, deny}]. @param {string} id */
export const overridesOf = async (id) => (await api("GET", path(id, "/overrides"))).overrides;

/** Store one override, or delete it if it is empty. @param {string} id @param {Override} override */
export function putOverride(id, { type, target_id: target, allow, deny }) {
  const where = path(id, /** @type {const} */ (`/overrides/${type}/${encodeURIComponent(target)}`));
  return allow.length || deny.length ? api("PUT", where, { allow, deny }) : api("DELETE", where);
}

/**
 * Return the list of overrides with this override replaced.
 * @param {Override[]} overrides
 * @param {Override} override
 */
export function replaced(overrides, override) {
  const others = overrides.filter((each) => keyOf(each) !== keyOf(override));
  return override.allow.length || override.deny.length ? [...others, override] : others;
}
