// The private conversation functions that the page calls. They are fetched some seconds after the page is
// shown. See docs/private.md

import { keyNotifier } from "./call_keys.js";
import { followCall } from "./channel_calls.js";
import { open } from "./files.js";
import { revealable } from "./franking.js";
import { addPeople, greet, leave, makeGroup, removePerson, rename } from "./groups.js";
import { answerOurs, askOurs, bring } from "./history_transfer.js";
import { begin, forgetRead, look, markRead, onRead, received, refresh } from "./log_reader.js";
import { acts, discard, send, sendAgain } from "./outbox.js";
import { forgetOwn, inConversations, start, takePart } from "./own_identity.js";
import { numberOf, verify } from "./safety_numbers.js";
import { PrivateUploads } from "./uploads.js";
import { attaching } from "../private_conversations.js";
import { api } from "../server.js";

onRead(greet);
onRead(bring);

/**
 * Pass the keys for this conversation's call to `onKeys` until the returned function is called.
 * @param {string} id
 * @param {(keys: import("./channel_calls.js").Keys) => void} onKeys
 */
function followConversation(id, onKeys) {
  const notifyKeys = keyNotifier(start, id, onKeys);
  inConversations.set(id, notifyKeys);
  notifyKeys();
  return () => {
    if (inConversations.get(id) === notifyKeys) inConversations.delete(id);
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

/** Delete all data of our identity in this browser. */
async function forget() {
  forgetRead();
  await forgetOwn();
}

export const running = {
  acts,
  addPeople,
  answerOurs,
  askOurs,
  begin,
  discard,
  followCall,
  followConversation,
  forget,
  received,
  leave,
  look,
  makeGroup,
  markRead,
  numberOf,
  openFile: open,
  refresh,
  removePerson,
  rename,
  report,
  send,
  sendAgain,
  takePart,
  uploadsOf,
  verify,
};

/**
 * @typedef {{conversation_id: string, content_seq: number}} Reported `content_seq` is the number of the entry
 *   with its current text
 */

/**
 * Report a message. Rejects with a code if there is no proof, for example for messages that predate franking.
 * @param {Reported} message
 * @param {string} text the reporter's reason
 */
export async function report({ conversation_id: id, content_seq: seq }, text) {
  const { kept } = await start();
  const {
    memberId,
    said: payload,
    sentAtMs,
    tag,
  } = /** @type {Partial<import("./log_entries.js").Entry>} */ (
    (await kept.get(`history/${id}/${seq}`)) ?? {}
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
