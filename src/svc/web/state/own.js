// One's own affairs: taking one's data along, leaving, having everything deleted, and telling moderators.

import { download } from "../transport/http.js";
import { accessToken, api, signOut } from "./server.js";

/** All that the server has of us, as a Blob; `progressed` hears how many bytes have come. @param {(bytes: number) => void} progressed @param {AbortSignal} signal */
export async function exportData(progressed, signal) {
  return download("/api/me/export", { token: await accessToken(), progressed, signal });
}

/** Be no member any more. Messages stay. */
export async function leaveServer() {
  await api("POST", "/api/me/leave");
  signOut();
}

/** Leave, and have everything deleted. */
export async function deleteData() {
  await api("DELETE", "/api/me");
  signOut();
}

/** A code for somebody who has lost all devices; only the owner gets one. @param {string} memberId */
export const recoveryCode = (memberId) => api("POST", `/api/members/${encodeURIComponent(memberId)}/recovery`);

/** Tell the moderators: `about` is {member_id} or {channel_id, message_id}. @param {{member_id: string} | {channel_id: string, message_id: string}} about @param {string} text */
export const report = (about, text) => api("POST", "/api/reports", { ...about, text });
