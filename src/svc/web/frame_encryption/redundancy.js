// Reads and writes RED payloads (RFC 2198). For receivers that lose packets, the SFU adds the previous frame
// to each audio packet. Each block is a separately encrypted frame. Does not handle keys.

import { joined } from "./sframe.js";

export const RED = 63; // The payload type, which must match sfu/codecs.

const MORE = 0x80; // This bit means that another block follows.
const HEADER_BYTES = 4;

/** @typedef {{type: number, offset: number, data: Uint8Array<ArrayBuffer>}} Block `offset` is in ticks. */

/**
 * Return the blocks of a payload, with the primary block last; null if the payload is malformed.
 * @param {Uint8Array<ArrayBuffer>} data
 */
export function readRed(data) {
  const heads = [];
  let at = 0;
  for (; data[at] & MORE; at += HEADER_BYTES) {
    if (at + HEADER_BYTES >= data.length) return null;
    const length = ((data[at + 2] & 3) << 8) | data[at + 3];
    heads.push({ type: data[at] & 127, offset: (data[at + 1] << 6) | (data[at + 2] >> 2), length });
  }
  if (at >= data.length) return null;
  const type = data[at];
  at += 1;
  /** @type {Block[]} */
  const blocks = [];
  for (const head of heads) {
    if (at + head.length > data.length) return null;
    blocks.push({ type: head.type, offset: head.offset, data: data.subarray(at, at + head.length) });
    at += head.length;
  }
  return [...blocks, { type, offset: 0, data: data.subarray(at) }];
}

/** Build the payload that contains these blocks. @param {Block[]} blocks */
export function writeRed(blocks) {
  const heads = blocks.map(({ type, offset, data }, index) =>
    index === blocks.length - 1
      ? [type]
      : [MORE | type, offset >> 6, ((offset & 63) << 2) | (data.length >> 8), data.length & 255],
  );
  return joined(Uint8Array.from(heads.flat()), ...blocks.map(({ data }) => data));
}
