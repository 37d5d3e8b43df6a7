// What an entry of the log does to what is kept of its conversation. docs/private.md

/**
 * @import { PrivateEntry } from "../../types/api.js"
 * @import { Changes } from "../../transport/private_store.js"
 * @import { State } from "./mls.js"
 * @import { Device } from "./others.js"
 * @import { Outgoing } from "./waiting.js"
 *
 * @typedef {{state: Uint8Array, seq: number, between: string[] | null, outgoing: Outgoing[], pending?: {digest: string, state: Uint8Array, adds: boolean} | null}} Group as it is kept
 * @typedef {{seq: number, memberId: string | null, thumbprint: string | null, said: any, sentAtMs: number}} Entry of the history
 */

import { digestOf, epochOf, fromBase64, open, packed } from "./mls.js";
import { entryOf, parsed, reportProblem, statedIn, Withheld } from "./others.js";

/**
 * {next, changes}: the group after it, and what is kept besides; or {lost}: this device is out of the group, and `lost` where it does
 * not know why.
 * @param {string} id
 * @param {Group} group
 * @param {Omit<PrivateEntry, "epoch">} entry the one behind the last that was read
 * @param {{unpack: (data: Uint8Array) => State, audience: string, statement: string}} own
 * @returns {Promise<{next: Group, changes: Changes, lost?: undefined} | {next?: undefined, changes?: undefined, lost: boolean}>}
 */
export async function afterEntry(id, group, { seq, kind, body, sent_at_ms: sentAtMs }, { unpack, audience, statement }) {
  if (seq !== group.seq + 1) throw new Withheld(`entry ${group.seq + 1} of ${id} is missing`);
  const data = fromBase64(body);
  const digest = await digestOf(data);
  const next = { ...group, seq };
  if (group.pending?.digest === digest) {
    const { state, adds } = group.pending;
    const changes = await changedBy(id, unpack(group.state), unpack(state), { seq, sentAtMs }, audience);
    return { next: { ...next, state, pending: null }, changes: adds ? [...changes, [`greet/${id}`, true]] : changes };
  }
  const own = group.outgoing.find((each) => each.digest === digest);
  if (own) {
    next.outgoing = group.outgoing.filter((each) => each !== own);
    return { next, changes: [await entryOf(id, { seq, said: own.said, sentAtMs }, statement, audience)] };
  }
  const opened = await open(unpack(group.state), data).catch((error) => {
    reportProblem(error);
    return null;
  });
  if (kind === "commit") {
    if (opened?.state.groupActiveState.kind !== "active") return { lost: !opened };
    const changes = await changedBy(id, unpack(group.state), opened.state, { seq, sentAtMs }, audience);
    return { next: { ...next, state: packed(opened.state), pending: null }, changes };
  }
  if (opened) next.state = packed(opened.state);
  return { next, changes: [await entryOf(id, { seq, said: opened && parsed(opened.data), sentAtMs }, opened?.statement, audience)] };
}

/**
 * Which devices a commit lets in and out, but for the one that makes the group.
 * @param {string} id @param {State} before @param {State} after @param {{seq: number, sentAtMs: number}} at @param {string} audience @returns {Promise<Changes>}
 */
async function changedBy(id, before, after, { seq, sentAtMs }, audience) {
  if (epochOf(before) === 0) return [];
  const [old, now] = await Promise.all([statedIn(before, audience), statedIn(after, audience)]);
  const lacking = (/** @type {Device[]} */ all) => (/** @type {Device} */ { memberId, thumbprint }) => !all.some((each) => each.memberId === memberId && each.thumbprint === thumbprint);
  const named = (/** @type {Device} */ { memberId, thumbprint }) => ({ memberId, thumbprint });
  const [added, removed] = [now.filter(lacking(old)).map(named), old.filter(lacking(now)).map(named)];
  const people = [...new Set(old.map(({ memberId }) => memberId))];
  return added.length || removed.length ? [[`changes/${id}/${seq}`, { seq, sentAtMs, added, removed, before: people, after: [...new Set(now.map(({ memberId }) => memberId))] }]] : [];
}
