// Tells the moderators about a private message: reveals it, with the proof that it was sent. docs/private.md

import { api } from "../server.js";
import { revealable } from "./franking.js";
import { start } from "./own.js";

/** @typedef {{talk_id: string, said_in: number}} Reported `said_in` is the entry that has its present text */

/** Rejects with a code where there is no proof, as of what was said before there was any. @param {Reported} message @param {string} text what is wrong with it */
export async function report({ talk_id: id, said_in: seq }, text) {
  const { kept } = await start();
  const { memberId, said, sentAtMs, tag } = /** @type {Partial<import("./entries.js").Entry>} */ ((await kept.get(`history/${id}/${seq}`)) ?? {});
  if (!memberId || sentAtMs === undefined || !said?.frank || !tag) throw Object.assign(new Error(), { code: "no_proof" });
  await api("POST", `/api/private/conversations/${encodeURIComponent(id)}/reports`, { text, member_id: memberId, sent_at_ms: sentAtMs, said: revealable(said), key: said.frank, tag });
}
