// Encrypts every outgoing frame of an encrypted call and decrypts every incoming frame, in a worker. Drops
// frames that fail. See docs/private.md.

/** @import { Epoch } from "./frame_keys.js" */
/** @typedef {{section: string, memberId: string, source: string}} Owner */
/**
 * @typedef {(frame: RTCEncodedAudioFrame | RTCEncodedVideoFrame, controller:
 *   TransformStreamDefaultController) => Promise<void>} Transform
 */

import { FrameKeys, SentTrack, stayOf } from "./frame_keys.js";
import { RED, readRed, writeRed } from "./redundancy.js";
import { joined, decrypt, readHeader, encrypt } from "./sframe.js";

const VP8_KEYFRAME_BYTES = 10; // RFC 6386 section 9.1: the bytes that identify a keyframe and its size.
const VP8_BYTES = 3;

const keys = new FrameKeys();
/**
 * Transformers that could not decrypt a video frame. When new keys arrive, they request a keyframe.
 * @type {Set<RTCRtpScriptTransformer>}
 */
const waiting = new Set();
/** The member and source assigned to each media section. @type {Map<string, Owner>} */
const owners = new Map();

/**
 * Return how many bytes of a frame must stay readable for packetising and reassembly.
 * @param {Uint8Array} data
 * @param {boolean} video
 */
function readable(data, video) {
  if (!video) return 0;
  return Math.min(data.length, data[0] & 1 ? VP8_BYTES : VP8_KEYFRAME_BYTES);
}

/** @param {SentTrack} track @param {boolean} video @returns {Transform} */
function sealing(track, video) {
  return async (frame, controller) => {
    const used = await keys.toSend(track);
    if (!used) return;
    const data = new Uint8Array(frame.data);
    const additionalData = data.subarray(0, readable(data, video));
    frame.data = joined(
      additionalData,
      await encrypt(used, track.next(used.kid), data.subarray(additionalData.length), additionalData),
    ).buffer;
    controller.enqueue(frame);
  };
}

/**
 * Decrypt a frame whose first `clear` bytes are not encrypted. Rejects if the frame does not come from the
 * member and source assigned to its media section.
 * @param {string} section @param {Uint8Array<ArrayBuffer>} data @param {number} [clear]
 */
async function openFrame(section, data, clear = 0) {
  const additionalData = data.subarray(0, clear);
  const body = data.subarray(clear);
  const head = readHeader(body);
  const used = head && (await keys.toOpen(head, owners.get(section)));
  if (!used) throw new RangeError("a key that we do not have");
  const content = joined(additionalData, await decrypt(used, body, additionalData));
  return { head, content, fresh: keys.isNew(head) };
}

/**
 * Decrypt each block of a RED payload. Return null if it contains nothing new. A frame is played twice in
 * only one case: it first arrives as redundancy in the next packet, and then in its own retransmitted packet,
 * together with a previous frame that was still missing.
 * @param {string} section @param {Uint8Array<ArrayBuffer>} data
 */
async function openRed(section, data) {
  const blocks = readRed(data);
  if (!blocks) throw new RangeError("malformed RED");
  const results = await Promise.allSettled(blocks.map((block) => openFrame(section, block.data)));
  const frames = results.map((result) => (result.status === "fulfilled" ? result.value : null));
  const primary = frames[frames.length - 1];
  if (!primary) throw new RangeError("a key that we do not have");
  const { kid, counter } = primary.head;
  const fresh = blocks.flatMap((block, at) => {
    const frame = frames[at];
    return frame?.fresh && frame !== primary ? [{ ...block, data: frame.content, head: frame.head }] : [];
  });
  const isNeighbour = fresh.some(({ head }) => head.kid === kid && head.counter + 1n === counter);
  if (!primary.fresh && !isNeighbour) return null;
  return writeRed([...fresh, { ...blocks[blocks.length - 1], data: primary.content }]);
}

/**
 * @param {string} section
 * @param {boolean} video
 * @param {RTCRtpScriptTransformer} transformer
 * @returns {Transform}
 */
function opening(section, video, transformer) {
  return async (frame, controller) => {
    try {
      const data = new Uint8Array(frame.data);
      if (!video && frame.getMetadata().payloadType === RED) {
        const content = await openRed(section, data);
        if (!content) return;
        frame.data = content.buffer;
      } else {
        const { content, fresh } = await openFrame(section, data, readable(data, video));
        if (!fresh) return;
        frame.data = content.buffer;
      }
      controller.enqueue(frame);
    } catch {
      if (video) waiting.add(transformer);
    }
  };
}

self.onrtctransform = ({ transformer }) => {
  /** @type {{section: string, source: string, send?: boolean, video: boolean, stay: number[]}} */
  const { section, source, send, video, stay } = transformer.options;
  const transform = send
    ? sealing(new SentTrack(source, stayOf(stay)), video)
    : opening(section, video, transformer);
  const forget = () => {
    waiting.delete(transformer);
  };
  transformer.readable
    .pipeThrough(new TransformStream({ transform }))
    .pipeTo(transformer.writable)
    .then(forget, forget);
};

self.onmessage = (/** @type {MessageEvent<{epoch?: Epoch, owner?: Owner}>} */ { data: { epoch, owner } }) => {
  if (owner) owners.set(owner.section, owner);
  if (!epoch) return;
  const wait = keys.take(epoch);
  if (wait === null) return;
  setTimeout(() => keys.endBefore(epoch), wait);
  for (const transformer of waiting) transformer.sendKeyFrameRequest?.().catch(() => {});
  waiting.clear();
};
