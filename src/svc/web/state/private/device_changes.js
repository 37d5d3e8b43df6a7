// Describes changes to a conversation's devices for display. See docs/private.md.

/**
 * @import { Removal } from "./content.js"
 *
 * @typedef {{seq: number, sentAtMs: number, added: {memberId: string}[], removed: {memberId: string}[],
 *   before: string[], after: string[], trouble?: string, memberId?: string | null}} Change
 */

/**
 * Return the member who claims to have removed this member in a change. Ignore claims made after the member
 * was added again.
 * @param {Change} change @param {string} memberId @param {Change[]} changes @param {Removal[]} removals
 */
export function removerOf({ seq }, memberId, changes, removals) {
  const back = changes.find((change) => change.seq > seq && change.after.includes(memberId))?.seq ?? Infinity;
  return removals.find((removal) => removal.who === memberId && removal.seq > seq && removal.seq < back)?.by;
}

/**
 * Return the notes to show for a change: [{what, memberId, by}]. `what` is "joined", "left", "removed",
 * "new-device", "device-gone", or an inconsistency in the server's log. `by` is the member who removed them.
 * @param {Change} change
 * @param {boolean} two Whether the conversation is between two people. Nobody joins or leaves such a
 *   conversation, so a member who is added again has a new device.
 * @param {(memberId: string) => string | undefined} [remover]
 * @returns {{what: string, memberId: string, by?: string}[]}
 */
export function noteOf(
  { added, removed, before, after, trouble, memberId: shown },
  two,
  remover = () => undefined,
) {
  if (trouble) return [{ what: trouble, memberId: shown ?? "" }];
  const of = (/** @type {{memberId: string}[]} */ all) => [...new Set(all.map(({ memberId }) => memberId))];
  const [come, gone] = [of(added), of(removed)];
  return [
    ...come.map((memberId) => ({
      what: two || before.includes(memberId) ? "new-device" : "joined",
      memberId,
    })),
    ...gone
      .filter((memberId) => !come.includes(memberId))
      .map((memberId) => {
        if (two || after.includes(memberId)) return { what: "device-gone", memberId };
        const by = remover(memberId);
        return by ? { what: "removed", memberId, by } : { what: "left", memberId };
      }),
  ];
}
