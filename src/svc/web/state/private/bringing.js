// Brings what was said earlier from one device of ours to another, as the page uses it: asks in all conversations at once,
// answers there only when the person here says so, and takes what comes. docs/private.md

/**
 * @import { PathOf } from "../../types/wire.js"
 * @import { Said } from "./content.js"
 */

import { download } from "../../transport/http.js";
import { inTurn } from "../../transport/kept.js";
import { sendWhole } from "../../transport/upload.js";
import { talks, talksById } from "../private_talks.js";
import { accessToken } from "../server.js";
import { askForEarlier, refuseEarlier, sendEarlier, takeEarlier } from "./earlier.js";
import { erase } from "./files.js";
import { start } from "./own.js";
import { coming, look, refresh } from "./reading.js";
import { PLAIN_TYPE } from "./sealed.js";
import { NotYet } from "./waiting.js";

const TURN = "svc.private.earlier"; // The lock that tabs take.
const ONE = /** @type {PathOf<"/api/private/conversations">} */ ((id, /** @type {any} */ rest = "") => `/api/private/conversations/${encodeURIComponent(id)}${rest}`);

/** What cannot go now goes by itself later; what the server refuses does not. @param {string} id @param {Said} said */
async function send(id, said) {
  const { device } = await start();
  try {
    await device.send(id, said);
  } catch (/** @type {any} */ error) {
    if (error instanceof NotYet || error.code === "unreachable") return;
    if (error.status !== undefined) await device.discard(id, said.key);
    throw error;
  }
}

/** @param {string} id @param {ArrayBuffer} data */
async function upload(id, data) {
  const { file_id: fileId } = await sendWhole(ONE(id, "/files"), new Blob([data], { type: PLAIN_TYPE }), { token: accessToken });
  return fileId;
}

/** @param {string} id @param {string} fileId */
const fetched = async (id, fileId) => (await download(ONE(id, `/files/${encodeURIComponent(fileId)}`), { token: await accessToken() })).arrayBuffer();

/** Ask for what was said before, wherever another device of ours might have it. */
export async function askOurs() {
  const { kept } = await start();
  for (const { id } of talks.peek().filter(({ earlier }) => ["can", "refused", "failed"].includes(earlier))) {
    await askForEarlier({ kept, send }, id);
    await look(id);
  }
}

/** Answer this device of ours, in all conversations where it asks: the person here has decided. @param {string} thumbprint @param {boolean} allowed */
export async function answerOurs(thumbprint, allowed) {
  await refresh(); // It may have been removed a moment ago.
  const { kept } = await start();
  for (const { id } of talks.peek()) {
    const ask = talksById.peek().get(id)?.asks.find((each) => each.thumbprint === thumbprint);
    if (!ask) continue;
    if (allowed) await sendEarlier({ kept, send, upload }, id, ask);
    else await refuseEarlier(send, id, ask);
    await look(id);
  }
}

/** Take what has come for this device, one tab at a time. @param {string} id */
export async function bring(id) {
  const answer = coming.get(id);
  if (!answer) return;
  const { kept } = await start();
  try {
    await inTurn(TURN, () => takeEarlier({ kept, fetched }, id, answer));
  } catch (/** @type {any} */ error) {
    if (error.code === "unreachable") return; // Once the server is there again.
    throw error;
  }
  // Nobody else can open it.
  if (answer.file) await erase(id, answer.file.id);
  await look(id);
}
