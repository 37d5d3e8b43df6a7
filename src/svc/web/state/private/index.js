// Exports the functions for private conversations that other modules call. The page imports this module a few
// seconds after the first paint. See docs/private.md.

import { keyNotifier } from "./call_keys.js";
import { followCall } from "./channel_calls.js";
import { openPrivateFile } from "./files.js";
import { revealable } from "./franking.js";
import { addMembers, announceName, leave, createGroup, removeMember, rename } from "./groups.js";
import { answerHistoryRequest, requestHistory, importHistory } from "./history_transfer.js";
import {
  createConversation,
  clearHistory,
  synchronise,
  markRead,
  onRead,
  handlePush,
  refresh,
} from "./log_reader.js";
import { messageActions, discard, send, sendAgain } from "./outbox.js";
import { clearIdentity, conversationCalls, ownIdentity, registeredIdentity } from "./own_identity.js";
import { numberOf, verify } from "./safety_numbers.js";
import { PrivateUploads } from "./uploads.js";
import { attaching } from "../private_conversations.js";
import { api } from "../server.js";

onRead(announceName);
onRead(importHistory);

/**
 * Pass the keys for this conversation's call to `onKeys` until the returned function is called.
 * @param {string} id
 * @param {(keys: import("./channel_calls.js").Keys) => void} onKeys
 */
function followConversation(id, onKeys) {
  const notifyKeys = keyNotifier(ownIdentity, id, onKeys);
  conversationCalls.set(id, notifyKeys);
  notifyKeys();
  return () => {
    if (conversationCalls.get(id) === notifyKeys) conversationCalls.delete(id);
  };
}

/**
 * Return the uploads for the message being written in this conversation.
 * @param {string} id
 * @param {(file: File) => Promise<import("./uploads.js").Prepared>} prepare
 */
function uploadsOf(id, prepare) {
  const uploads = attaching.get(id) ?? new PrivateUploads(id, prepare);
  attaching.set(id, uploads);
  return uploads;
}

/** Delete all data about our identity in this browser. */
async function forget() {
  clearHistory();
  await clearIdentity();
}

export const clientFunctions = {
  messageActions,
  addMembers,
  answerHistoryRequest,
  requestHistory,
  createConversation,
  discard,
  followCall,
  followConversation,
  forget,
  handlePush,
  leave,
  synchronise,
  createGroup,
  markRead,
  numberOf,
  openFile: openPrivateFile,
  refresh,
  removeMember,
  rename,
  report,
  send,
  sendAgain,
  register: registeredIdentity,
  uploadsOf,
  verify,
};

/**
 * @typedef {{conversation_id: string, content_seq: number}} ReportedMessage `content_seq` is the number of
 *   the log entry that contains the message's current text.
 */

/**
 * Report a message. Rejects with a code if there is no proof, for example because the message predates
 * franking.
 * @param {ReportedMessage} message
 * @param {string} text The reason for the report.
 */
export async function report({ conversation_id: id, content_seq: seq }, text) {
  const { store } = await ownIdentity();
  const {
    memberId,
    said: payload,
    sentAtMs,
    tag,
  } = /** @type {Partial<import("./apply_log_entry.js").Entry>} */ (
    (await store.get(`history/${id}/${seq}`)) ?? {}
  );
  if (!memberId || sentAtMs === undefined || !payload?.frank || !tag)
    throw Object.assign(new Error(), { code: "no_proof" });
  await api("POST", `/api/private/conversations/${encodeURIComponent(id)}/reports`, {
    text,
    member_id: memberId,
    sent_at_ms: sentAtMs,
    said: revealable(payload),
    key: payload.frank,
    tag,
  });
}
