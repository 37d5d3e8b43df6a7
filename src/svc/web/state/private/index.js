// The code of private conversations that the page uses, fetched some seconds after the page is shown.
// docs/private.md

import { attaching } from "../private_conversations.js";
import { answerOurs, askOurs, bring } from "./history_transfer.js";
import { teller } from "./call_keys.js";
import { open } from "./files.js";
import { addPeople, greet, leave, makeGroup, removePerson, rename } from "./groups.js";
import { numberOf, verify } from "./safety_numbers.js";
import { followCall } from "./channel_calls.js";
import { forgetOwn, inConversations, start, takePart } from "./own_identity.js";
import { begin, forgetRead, heard, look, markRead, onRead, refresh } from "./log_reader.js";
import { report } from "./reports.js";
import { acts, discard, send, sendAgain } from "./outbox.js";
import { PrivateUploads } from "./uploads.js";

onRead(greet);
onRead(bring);

/**
 * Pass the keys of this conversation's call to `told` until the returned function is called.
 * @param {string} id
 * @param {(keys: import("./channel_calls.js").Keys) => void} told
 */
function followConversation(id, told) {
  const tell = teller(start, id, told);
  inConversations.set(id, tell);
  tell();
  return () => {
    if (inConversations.get(id) === tell) inConversations.delete(id);
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

/** Delete everything of our identity in this browser. */
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
  heard,
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
