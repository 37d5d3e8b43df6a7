// Transfers earlier messages between our own devices in all conversations: sends requests, responds to
// requests with the member's consent, and imports the received messages. See docs/private.md.

/**
 * @import { PathOf } from "../../types/wire.js"
 * @import { Payload } from "./content.js"
 */

import { download } from "../../transport/http.js";
import { withLock } from "../../transport/browser_storage.js";
import { sendWhole } from "../../transport/upload.js";
import { conversations, conversationsById } from "../private_conversations.js";
import { accessToken } from "../server.js";
import { requestTransfer, refuseTransfer, sendTransfer, importTransfer } from "./history_messages.js";
import { deleteFile } from "./files.js";
import { ownIdentity } from "./own_identity.js";
import { transferResponses, synchronise, refresh } from "./log_reader.js";
import { PLAIN_TYPE } from "./file_encryption.js";
import { NoRecipientError } from "./unsent_messages.js";

const TURN = "svc.private.earlier"; // The name of the lock that only one tab holds at a time.
const conversationPath = /** @type {PathOf<"/api/private/conversations">} */ (
  (id, /** @type {any} */ suffix = "") => `/api/private/conversations/${encodeURIComponent(id)}${suffix}`
);

/**
 * Send a message as soon as possible. Drop it if the server rejects it.
 * @param {string} id
 * @param {Payload} payload
 */
async function send(id, payload) {
  const { device } = await ownIdentity();
  try {
    await device.send(id, payload);
  } catch (/** @type {any} */ error) {
    if (error instanceof NoRecipientError || error.code === "unreachable") return;
    if (error.status !== undefined) await device.discard(id, payload.key);
    throw error;
  }
}

/** @param {string} id @param {ArrayBuffer} data */
async function upload(id, data) {
  const { file_id: fileId } = await sendWhole(
    conversationPath(id, "/files"),
    new Blob([data], { type: PLAIN_TYPE }),
    {
      token: accessToken,
    },
  );
  return fileId;
}

/** @param {string} id @param {string} fileId */
const fetchFile = async (id, fileId) =>
  (
    await download(conversationPath(id, `/files/${encodeURIComponent(fileId)}`), {
      token: await accessToken(),
    })
  ).arrayBuffer();

/** Request earlier messages in every conversation where another of our devices may have them. */
export async function requestHistory() {
  const { store } = await ownIdentity();
  for (const { id } of conversations
    .peek()
    .filter(({ earlier }) => ["can", "refused", "failed"].includes(earlier))) {
    await requestTransfer({ store, send }, id);
    await synchronise(id);
  }
}

/**
 * Send the member's decision to one of our other devices, in every conversation in which that device has
 * requested a transfer.
 * @param {string} thumbprint
 * @param {boolean} allowed
 */
export async function answerHistoryRequest(thumbprint, allowed) {
  await refresh(); // The device may have just been removed.
  const { store } = await ownIdentity();
  for (const { id } of conversations.peek()) {
    const request = conversationsById
      .peek()
      .get(id)
      ?.asks.find((ask) => ask.thumbprint === thumbprint);
    if (!request) continue;
    if (allowed) await sendTransfer({ store, send, upload }, id, request);
    else await refuseTransfer(send, id, request);
    await synchronise(id);
  }
}

/**
 * Import the messages that have arrived for this device. Only one tab at a time imports messages.
 * @param {string} id
 */
export async function importHistory(id) {
  const answer = transferResponses.get(id);
  if (!answer) return;
  const { store } = await ownIdentity();
  try {
    await withLock(TURN, () => importTransfer({ store, fetchFile }, id, answer));
  } catch (/** @type {any} */ error) {
    if (error.code === "unreachable") return; // Try again when the server is reachable.
    throw error;
  }
  // Delete the file, because no other device can decrypt it.
  if (answer.file) await deleteFile(id, answer.file.id);
  await synchronise(id);
}
