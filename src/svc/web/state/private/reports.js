// Report a private message to the moderators: reveal it, with the proof that it was sent. docs/private.md

import { api } from "../server.js";
import { revealable } from "./franking.js";
import { start } from "./own_identity.js";

/**
 * @typedef {{conversation_id: string, said_in: number}} Reported `said_in` is the number of the entry with
 *   its
 *   current text
 */

/**
 * Report a message. Rejects with a code if there is no proof, as for messages older than franking.
 * @param {Reported} message
 * @param {string} text the reporter's reason
 */
export async function report({ conversation_id: id, said_in: seq }, text) {
  const { kept } = await start();
  const { memberId, said, sentAtMs, tag } = /** @type {Partial<import("./log_entries.js").Entry>} */ (
    (await kept.get(`history/${id}/${seq}`)) ?? {}
  );
  if (!memberId || sentAtMs === undefined || !said?.frank || !tag)
    throw Object.assign(new Error(), { code: "no_proof" });
  await api("POST", `/api/private/conversations/${encodeURIComponent(id)}/reports`, {
    text,
    member_id: memberId,
    sent_at_ms: sentAtMs,
    said: revealable(said),
    key: said.frank,
    tag,
  });
}
