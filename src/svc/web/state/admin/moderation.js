// Sends moderators' requests about members, and fetches the moderation history of a member.

/** @import { PathOf } from "../../types/wire.js" */

import { api, ask } from "../server.js";

const memberPath = /** @type {PathOf<"/api/members">} */ (
  (id, /** @type {any} */ suffix = "") => `/api/members/${encodeURIComponent(id)}${suffix}`
);
/** @param {string} [reason] */
const withReason = (reason) => (reason ? { reason } : {});

/** @param {string} id @param {string} nickname */
export const rename = (id, nickname) => api("PATCH", memberPath(id), { nickname });
/** @param {string} id @param {number} seconds @param {string} [reason] */
export const timeOut = (id, seconds, reason) =>
  api("PUT", memberPath(id, "/timeout"), { duration_s: seconds, ...withReason(reason) });
/** @param {string} id */
export const endTimeout = (id) => api("DELETE", memberPath(id, "/timeout"));
/** @param {string} id @param {string} [reason] */
export const kick = (id, reason) => api("POST", memberPath(id, "/kick"), withReason(reason));
/** @param {string} id @param {string} [reason] @param {number} [deleteSeconds] */
export const ban = (id, reason, deleteSeconds) =>
  api("PUT", `/api/bans/${encodeURIComponent(id)}`, {
    ...withReason(reason),
    ...(deleteSeconds && { delete_messages_s: deleteSeconds }),
  });
/** @param {string} id @param {string} [reason] */
export const unban = (id, reason) =>
  api("DELETE", `/api/bans/${encodeURIComponent(id)}?${new URLSearchParams(reason ? { reason } : {})}`);
/** Fetch a page of bans: {bans, next}. @param {string | null} [after] */
export const bans = (after = null) => api("GET", `/api/bans?${new URLSearchParams(after ? { after } : {})}`);
/**
 * Fetch a member's moderation history: {nickname, joined_at_ms, left_at_ms, banned, reports, entries, next}.
 * @param {string} id
 * @param {number | null} [before]
 */
export const historyOf = (id, before = null) => {
  const query = new URLSearchParams(before ? { before: `${before}` } : {});
  return api("GET", `/api/members/${encodeURIComponent(id)}/moderation?${query}`);
};

/** Mute or unmute a member in calls. @param {string} id @param {boolean} muted */
export const muteInCalls = (id, muted) => ask("voice_mute", { member_id: id, muted });
/** @param {string} id @param {boolean} deafened */
export const deafenInCalls = (id, deafened) => ask("voice_mute", { member_id: id, deafened });
/** @param {string} id @param {string} channelId */
export const lowerHandOf = (id, channelId) =>
  ask("voice_lower_hand", { member_id: id, channel_id: channelId });
/** @param {string} id */
export const stopScreenOf = (id) => ask("voice_stop_screen", { member_id: id });
/** @param {string} id */
export const endCallOf = (id) => ask("voice_disconnect", { member_id: id });
/** @param {string} id @param {string} channelId */
export const moveToCall = (id, channelId) => ask("voice_move", { member_id: id, channel_id: channelId });
