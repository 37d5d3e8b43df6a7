// Sends requests that concern our own account: to export our data, leave the server, delete our data, and
// report something to the moderators.

import { download } from "../transport/http.js";
import { accessToken, api, signOut } from "./server.js";

/**
 * Download all our data on the server as a Blob. `progressed` receives the number of bytes received so far.
 * @param {(bytes: number) => void} progressed
 * @param {AbortSignal} signal
 */
export async function exportData(progressed, signal) {
  return download("/api/me/export", { token: await accessToken(), progressed, signal });
}

/** Leave the server. The server keeps our messages. */
export async function leaveServer() {
  await api("POST", "/api/me/leave");
  signOut();
}

/** Leave the server and delete all our data. */
export async function deleteData() {
  await api("DELETE", "/api/me");
  signOut();
}

/**
 * Create a recovery code for a member who has lost all devices. Only the server's owner may do this.
 * @param {string} memberId
 */
export const recoveryCode = (memberId) =>
  api("POST", `/api/members/${encodeURIComponent(memberId)}/recovery`);

/**
 * Report a member or a message to the moderators.
 * @param {{member_id: string} | {channel_id: string, message_id: string}} about
 * @param {string} text
 */
export const report = (about, text) => api("POST", "/api/reports", { ...about, text });
