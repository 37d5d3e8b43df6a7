// Sends requests to create, change and delete channels, and to let members speak in a voice channel. If not
// everybody may speak, the call is a stage with an audience.

/**
 * @import { Override } from "../../types/api.js"
 * @import { Body, PathOf } from "../../types/wire.js"
 */

import { api } from "../server.js";
import { keyOf } from "./channel_privacy.js";
import { channelsById, hasPermission } from "../channels.js";
import { memberOf, roles as known } from "../people.js";
import { inChannel, ofRoles, withWord } from "./permissions.js";
import { ranksBelow } from "./role_rank.js";

const path = /** @type {PathOf<"/api/channels">} */ (
  (id, /** @type {any} */ suffix = "") => `/api/channels/${encodeURIComponent(id)}${suffix}`
);

/**
 * Create a channel. Resolves with the channel. `wanted` is {name, type, topic?, slow_mode_s?, parent_id?,
 * overrides?}.
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

/** Store an override, or delete it if it is empty. @param {string} id @param {Override} override */
export function putOverride(id, { type, target_id: target, allow, deny }) {
  const where = path(id, /** @type {const} */ (`/overrides/${type}/${encodeURIComponent(target)}`));
  return allow.length || deny.length ? api("PUT", where, { allow, deny }) : api("DELETE", where);
}

/**
 * Return a list of overrides with this override replaced.
 * @param {Override[]} overrides
 * @param {Override} override
 */
export function replaced(overrides, override) {
  const others = overrides.filter((other) => keyOf(other) !== keyOf(override));
  return override.allow.length || override.deny.length ? [...others, override] : others;
}

/** @param {string} memberId @param {string} channelId */
export const mayLetSpeak = (memberId, channelId) =>
  channelsById.value.has(channelId) && hasPermission("manage_channels") && ranksBelow(memberOf(memberId));

/**
 * Let a member speak in a channel, or move them to its audience. Change the member's override in the channel
 * only if their roles do not already have that effect.
 * @param {string} memberId @param {string} channelId @param {boolean} speaks
 */
export async function letSpeak(memberId, channelId, speaks) {
  const overrides = await overridesOf(channelId);
  /** @type {Override} */
  const own = overrides.find(({ type, target_id: id }) => type === "member" && id === memberId) ?? {
    type: "member",
    target_id: memberId,
    allow: [],
    deny: [],
  };
  const neutral = withWord(own, "speak", "neutral");
  const roleIds = memberOf(memberId)?.roles ?? [];
  const serverWide = ofRoles(known.value.filter(({ id }) => roleIds.includes(id)));
  const might = inChannel(serverWide, roleIds, memberId, replaced(overrides, neutral)).has("speak");
  await putOverride(
    channelId,
    might === speaks ? neutral : withWord(own, "speak", speaks ? "allow" : "deny"),
  );
}
