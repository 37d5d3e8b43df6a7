// What moderators do to members, and what was done to them before.

import { api, ask } from "../server.js";

const one = (id, rest = "") => `/api/members/${encodeURIComponent(id)}${rest}`;
const said = (reason) => (reason ? { reason } : {});

export const rename = (id, nickname) => api("PATCH", one(id), { nickname });
export const timeOut = (id, seconds, reason) => api("PUT", one(id, "/timeout"), { duration_s: seconds, ...said(reason) });
export const endTimeout = (id) => api("DELETE", one(id, "/timeout"));
export const kick = (id, reason) => api("POST", one(id, "/kick"), said(reason));
export const ban = (id, reason, deleteSeconds) => api("PUT", `/api/bans/${encodeURIComponent(id)}`, { ...said(reason), ...(deleteSeconds && { delete_messages_s: deleteSeconds }) });
export const unban = (id, reason) => api("DELETE", `/api/bans/${encodeURIComponent(id)}${reason ? `?${new URLSearchParams({ reason })}` : ""}`);
/** A page of bans: {bans, next}. */
export const bans = (after = null) => api("GET", `/api/bans${after ? `?after=${encodeURIComponent(after)}` : ""}`);
/** What was done to a member before: {nickname, joined_at_ms, left_at_ms, banned, reports, entries, next}. */
export const historyOf = (id, before = null) => api("GET", one(id, `/moderation${before ? `?before=${encodeURIComponent(before)}` : ""}`));

/** In calls. */
export const muteInCalls = (id, muted) => ask("voice_mute", { member_id: id, muted });
export const deafenInCalls = (id, deafened) => ask("voice_mute", { member_id: id, deafened });
export const stopScreenOf = (id) => ask("voice_stop_screen", { member_id: id });
export const endCallOf = (id) => ask("voice_disconnect", { member_id: id });
export const moveToCall = (id, channelId) => ask("voice_move", { member_id: id, channel_id: channelId });
