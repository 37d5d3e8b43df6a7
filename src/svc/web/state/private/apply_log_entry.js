// Applies a log entry to the stored state of its conversation. See docs/private.md.

/**
 * @import { PrivateEntry } from "../../types/api.js"
 * @import { Changes } from "../../transport/private_store.js"
 * @import { State } from "./mls.js"
 * @import { Device } from "./other_devices.js"
 * @import { Chain } from "./log_order.js"
 * @import { Outgoing } from "./unsent_messages.js"
 *
 * @typedef {{state: Uint8Array, seq: number, between: string[] | null, outgoing: Outgoing[], chain?: Chain |
 *   null, pending?: {digest: string, state: Uint8Array, adds: boolean} | null}} Group The group as it is
 *   stored.
 * @typedef {{seq: number, memberId: string | null, thumbprint: string | null, said: any, sentAtMs: number,
 *   chain?: string, tag?: string | null}} Entry A history entry as it is stored. `said` is the payload.
 */

import { isFranked } from "./franking.js";
import { digestOf, epochOf, fromBase64, open, packed } from "./mls.js";
import { chainFrom, extendChain, isSameLog } from "./log_order.js";
import { entryOf, parsePayload, reportProblem, statedIn, WithheldEntryError } from "./other_devices.js";

/**
 * Return {next, changes}: the group after the entry, and other changes to store. If `next` is missing, this
 * device is no longer in the group, and `lost` means that the commit that ended its membership could not be
 * decrypted.
 * @param {string} id
 * @param {Group} group
 * @param {Omit<PrivateEntry, "epoch">} entry The entry that follows the last one read.
 * @param {{unpack: (data: Uint8Array) => State, audience: string, statement: string, chainAt: (seq: number)
 *   => Promise<string | undefined>}} own
 * @returns {Promise<{next: Group, changes: Changes, lost?: undefined} | {next?: undefined, changes: Changes,
 *   lost: boolean}>}
 */
export async function afterEntry(
  id,
  group,
  { seq, kind, body, tag, sent_at_ms: sentAtMs },
  { unpack, audience, statement, chainAt },
) {
  if (seq !== group.seq + 1) throw new WithheldEntryError(`entry ${group.seq + 1} of ${id} is missing`);
  const data = fromBase64(body);
  const digest = await digestOf(data);
  const next = { ...group, seq };
  const at = { seq, sentAtMs };
  if (group.pending?.digest === digest) {
    const state = unpack(group.pending.state);
    const changes = await membershipChange(id, unpack(group.state), state, at, audience);
    return {
      next: { ...next, state: group.pending.state, pending: null, chain: chainFrom(state, seq) },
      changes: group.pending.adds ? [...changes, [`greet/${id}`, true]] : changes,
    };
  }
  const own = group.outgoing.find((message) => message.digest === digest);
  if (kind !== "commit") next.chain = await extendChain(group.chain, digest);
  const chain = next.chain?.now;
  if (own) {
    next.outgoing = group.outgoing.filter((message) => message !== own);
    return {
      next,
      changes: [await entryOf(id, { seq, said: own.said, sentAtMs, chain }, statement, audience)],
    };
  }
  const opened = await open(unpack(group.state), data).catch((error) => {
    // A commit that removes this device and reuses its leaf cannot be decrypted. It is handled below.
    if (kind !== "commit") reportProblem(error);
    return null;
  });
  if (kind === "commit") {
    if (opened?.state.groupActiveState.kind !== "active")
      return { lost: !opened, changes: opened ? [] : [faultNote(id, at, "forked")] };
    const changes = await membershipChange(id, unpack(group.state), opened.state, at, audience);
    return {
      next: { ...next, state: packed(opened.state), pending: null, chain: chainFrom(opened.state, seq) },
      changes,
    };
  }
  if (opened) next.state = packed(opened.state);
  const { seen, ...payload } = (opened && parsePayload(opened.data)) ?? {};
  // Do not show messages that could not be reported. Messages that predate franking have no tag from the
  // server.
  const franked = !tag || (opened?.shown && (await isFranked(payload, opened.shown)));
  const entry = await entryOf(
    id,
    { seq, said: franked ? payload : null, sentAtMs, chain, tag },
    opened?.statement,
    audience,
  );
  const trouble = !opened ? "foreign" : (await isSameLog(seen, seq, group.chain, chainAt)) ? "" : "differs";
  if (!trouble || next.chain?.told.includes(trouble)) return { next, changes: [entry] };
  // Report only the first difference in an epoch, because all later chains differ too.
  if (next.chain) next.chain = { ...next.chain, told: [...next.chain.told, trouble] };
  return { next, changes: [entry, faultNote(id, at, trouble, entry[1].memberId)] };
}

/**
 * Return the change that adds a note about an inconsistency in the server's log to the conversation.
 * @param {string} id @param {{seq: number, sentAtMs: number}} at @param {"foreign" | "differs" | "forked"}
 *   trouble @param {string | null} memberId The sender, if the server has sent that member a different log.
 * @returns {Changes[number]}
 */
function faultNote(id, { seq, sentAtMs }, trouble, memberId = null) {
  return [
    `changes/${id}/${seq}.${trouble}`,
    { seq, sentAtMs, added: [], removed: [], before: [], after: [], trouble, memberId },
  ];
}

/**
 * Return the change that records which devices a commit adds and removes, unless the commit creates the
 * group.
 * @param {string} id @param {State} before @param {State} after @param {{seq: number, sentAtMs: number}} at
 * @param {string} audience @returns {Promise<Changes>}
 */
async function membershipChange(id, before, after, { seq, sentAtMs }, audience) {
  if (epochOf(before) === 0) return [];
  const [old, now] = await Promise.all([statedIn(before, audience), statedIn(after, audience)]);
  const notIn =
    (/** @type {Device[]} */ all) =>
    (/** @type {Device} */ { memberId, thumbprint }) =>
      !all.some((device) => device.memberId === memberId && device.thumbprint === thumbprint);
  const identifiers = (/** @type {Device} */ { memberId, thumbprint }) => ({ memberId, thumbprint });
  const [added, removed] = [now.filter(notIn(old)).map(identifiers), old.filter(notIn(now)).map(identifiers)];
  const people = [...new Set(old.map(({ memberId }) => memberId))];
  return added.length || removed.length
    ? [
        [
          `changes/${id}/${seq}`,
          {
            seq,
            sentAtMs,
            added,
            removed,
            before: people,
            after: [...new Set(now.map(({ memberId }) => memberId))],
          },
        ],
      ]
    : [];
}
