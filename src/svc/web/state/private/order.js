// Whether all devices were shown the same log. Each keeps a chain of digests of what it has read in this epoch, which begins
// with what all in the epoch have in common, and says in its messages how far it had read and where its chain was then.
// Whoever has another chain there was shown something else. docs/private.md

/**
 * @import { State } from "./mls.js"
 *
 * @typedef {{start: number, first: string, now: string, told: string[]}} Chain `start` is the entry that began the epoch
 * @typedef {{seq: number, chain: string}} Seen
 */

import { agreementOf, digestOf, utf8 } from "./mls.js";

const LENGTH = 32; // 128 bits, in hexadecimal.

/** @param {State} state @param {number} seq of the commit that began its epoch @returns {Chain} */
export const chainFrom = (state, seq) => {
  const first = agreementOf(state).slice(0, LENGTH);
  return { start: seq, first, now: first, told: [] };
};

/** After one more entry. Without one, as groups kept by earlier pages are until the next commit, there is none. @param {Chain | null | undefined} chain @param {string} digest of its bytes @returns {Promise<Chain | null>} */
export const following = async (chain, digest) => chain ? { ...chain, now: (await digestOf(utf8(chain.now + digest))).slice(0, LENGTH) } : null;

/** What a message says of what its sender has read. @param {{seq: number, chain?: Chain | null}} group @returns {{seen?: Seen}} */
export const seenBy = ({ seq, chain }) => chain ? { seen: { seq, chain: chain.now } } : {};

/**
 * Was its sender shown what we were shown? Older pages do not say, and then it counts as such.
 * @param {any} seen @param {number} seq of the message @param {Chain | null | undefined} chain @param {(seq: number) => Promise<string | undefined>} chainAt
 */
export async function isSame(seen, seq, chain, chainAt) {
  if (!chain || !Number.isInteger(seen?.seq)) return true;
  if (seen.seq < chain.start || seen.seq >= seq) return false;
  const ours = seen.seq === chain.start ? chain.first : await chainAt(seen.seq);
  return ours === undefined || ours === seen.chain;
}
