// Checks that the server sends all devices the same log. Each device keeps a hash chain over the entries that
// it has read in this epoch, starting from a value that all devices in the epoch share. Each message contains
// its sender's position in the log and the chain's value at that position. If our chain has a different value
// there, the logs differ. See docs/private.md.

/**
 * @import { State } from "./mls.js"
 *
 * @typedef {{start: number, first: string, now: string, told: string[]}} Chain `start` is the number of the
 *   entry that began the epoch.
 * @typedef {{seq: number, chain: string}} ChainPosition
 */

import { agreementOf, digestOf, utf8 } from "./mls.js";

const LENGTH = 32; // 128 bits in hexadecimal.

/**
 * @param {State} state
 * @param {number} seq The number of the commit that began the epoch.
 * @returns {Chain}
 */
export const chainFrom = (state, seq) => {
  const first = agreementOf(state).slice(0, LENGTH);
  return { start: seq, first, now: first, told: [] };
};

/**
 * Return the chain with another entry added. Groups stored by earlier versions have no chain until their next
 * commit.
 * @param {Chain | null | undefined} chain
 * @param {string} digest The digest of the entry's bytes.
 * @returns {Promise<Chain | null>}
 */
export const extendChain = async (chain, digest) =>
  chain ? { ...chain, now: (await digestOf(utf8(chain.now + digest))).slice(0, LENGTH) } : null;

/**
 * Return the fields of a message that contain our position in the log and the chain's value there.
 * @param {{seq: number, chain?: Chain | null}} group
 * @returns {{seen?: ChainPosition}}
 */
export const chainPosition = ({ seq, chain }) => (chain ? { seen: { seq, chain: chain.now } } : {});

/**
 * Return whether the server has sent a message's sender the same log as us. Earlier versions do not send a
 * chain value, so their messages count as matching.
 * @param {any} seen @param {number} seq The message's number. @param {Chain | null | undefined} chain @param
 *   {(seq: number) => Promise<string | undefined>} chainAt
 */
export async function isSameLog(seen, seq, chain, chainAt) {
  if (!chain || !Number.isInteger(seen?.seq)) return true;
  if (seen.seq < chain.start || seen.seq >= seq) return false;
  const ours = seen.seq === chain.start ? chain.first : await chainAt(seen.seq);
  return ours === undefined || ours === seen.chain;
}
