// Tests frame encryption against the test vectors in RFC 9605, and with invalid frames.

import assert from "node:assert/strict";
import { test } from "node:test";
import { FrameKeys, kidOf, SentTrack } from "../../src/svc/web/frame_encryption/frame_keys.js";
import { derived, header, decrypt, readHeader, encrypt } from "../../src/svc/web/frame_encryption/sframe.js";

const bytes = (hex) => Uint8Array.from(hex.match(/../gu) ?? [], (pair) => Number.parseInt(pair, 16));
const hex = (data) => Buffer.from(data).toString("hex");

// The KID, counter and header of each vector in appendix C.1.
const HEADERS = [
  [0n, 0n, "00"],
  [0n, 1n, "01"],
  [0n, 255n, "08ff"],
  [0n, 256n, "090100"],
  [0n, 65535n, "09ffff"],
  [0n, 4294967296n, "0c0100000000"],
  [0n, 18446744073709551615n, "0fffffffffffffffff"],
  [1n, 0n, "10"],
  [1n, 16777216n, "1b01000000"],
  [255n, 0n, "80ff"],
  [255n, 256n, "89ff0100"],
  [256n, 1n, "910100"],
  [65535n, 65536n, "9affff010000"],
  [16777215n, 255n, "a8ffffffff"],
  [4294967296n, 72057594037927936n, "cf01000000000100000000000000"],
];
// The AES_128_GCM_SHA256_128 vector in appendix C.3.
const [KID, COUNTER] = [0x123n, 0x4567n];
const BASE = bytes("000102030405060708090a0b0c0d0e0f");
const METADATA = bytes("4945544620534672616d65205747");
const PLAIN = bytes("64726166742d696574662d736672616d652d656e63");
const SEALED = "9901234567b7412c2513a1b66dbb48841bbaf17f598751176ad847681a69c6d0b091c07018ce4adb34eb";

test("headers match the test vectors in both directions", () => {
  for (const [kid, counter, encoded] of HEADERS) {
    assert.equal(hex(header(kid, counter)), encoded);
    assert.deepEqual(readHeader(bytes(`${encoded}00`)), { kid, counter, length: encoded.length / 2 });
  }
  for (const cut of ["", "08", "80", "c0010000", "0f00000000000000"])
    assert.equal(readHeader(bytes(cut)), null);
});

test("frames match the test vectors and can be decrypted", async () => {
  const keys = await derived(BASE, KID);
  assert.equal(hex(keys.salt), "75234edefe07819026751816");
  assert.equal(hex(await encrypt(keys, COUNTER, PLAIN, METADATA)), SEALED);
  assert.deepEqual(await decrypt(keys, bytes(SEALED), METADATA), PLAIN);
});

test("modified, truncated and foreign frames are not decrypted", async () => {
  const keys = await derived(BASE, KID);
  for (let at = 0; at < SEALED.length / 2; at += 1) {
    const changed = bytes(SEALED);
    changed[at] ^= 1;
    await assert.rejects(decrypt(keys, changed, METADATA));
    await assert.rejects(decrypt(keys, bytes(SEALED).subarray(0, at), METADATA));
  }
  await assert.rejects(decrypt(keys, bytes(SEALED), PLAIN));
  await assert.rejects(decrypt(await derived(BASE, KID + 1n), bytes(SEALED), METADATA));
  await assert.rejects(decrypt(await derived(bytes("ff").subarray(0, 1), KID), bytes(SEALED), METADATA));
});

const epoch = (number, leaf) => ({
  epoch: number,
  leaf,
  baseKey: BASE.map((byte) => byte ^ number),
  members: { 0: "ada", 1: "grace", 2: "ada" },
  devices: ["phone", "laptop"],
});

test("a key belongs to one epoch, device, source and session", async () => {
  const [ada, grace] = [new FrameKeys(), new FrameKeys()];
  const track = new SentTrack("mic", 7n);
  assert.equal(await ada.toSend(track), null);
  ada.take(epoch(300, 0));
  grace.take(epoch(300, 1));
  const used = await ada.toSend(track);
  assert.equal(used.kid, kidOf({ epoch: 300, leaf: 0 }, "mic", 7n));
  const frame = await encrypt(used, track.next(used.kid), PLAIN, METADATA);
  const head = readHeader(frame);
  const opened = await grace.toOpen(head, { memberId: "ada", source: "mic" });
  assert.deepEqual(await decrypt(opened, frame, METADATA), PLAIN);
  // The server claims a different sender or a different source.
  assert.equal(await grace.toOpen(head, { memberId: "grace", source: "mic" }), null);
  assert.equal(await grace.toOpen(head, { memberId: "ada", source: "screen_audio" }), null);
  assert.equal(await grace.toOpen(head, undefined), null);
  // The server sends Ada's own frame back to her.
  assert.equal(await ada.toOpen(head, { memberId: "ada", source: "mic" }), null);
  assert.deepEqual([track.next(used.kid), track.next(used.kid), track.next(1n)], [1n, 2n, 0n]);
});

test("frames from earlier epochs are accepted until they expire, and no epoch is added twice", async () => {
  const keys = new FrameKeys();
  const at = (number) =>
    keys.toOpen({ kid: kidOf({ epoch: number, leaf: 0 }, "mic", 1n) }, { memberId: "ada", source: "mic" });
  const sends = async () => (await keys.toSend(new SentTrack("camera", 1n))).kid & 255n;
  for (const number of [5, 6, 7, 6]) keys.take(epoch(number, 1));
  assert.ok((await at(5)) && (await at(6)));
  assert.equal(await sends(), 7n);
  keys.endBefore(epoch(6, 1));
  assert.equal(await at(5), null);
  assert.ok((await at(6)) && (await at(7)));
  keys.endBefore(epoch(4, 1)); // No key of this epoch is stored.
  assert.ok(await at(6));
  for (let number = 8; number < 15; number += 1) keys.take(epoch(number, 1));
  assert.equal(await at(6), null); // If there are too many epochs, the oldest expires.
  assert.ok(await at(7));
  // A recreated group starts at the first epoch.
  keys.take({ ...epoch(1, 1), baseKey: epoch(99, 1).baseKey });
  assert.equal(await sends(), 1n);
});

test("once a device has been removed, frames from the previous epoch expire within half a second", () => {
  const keys = new FrameKeys();
  const after = (number, devices) => keys.take({ ...epoch(number, 1), devices });
  after(1, ["phone", "laptop"]);
  assert.equal(after(2, ["phone", "laptop", "tablet"]), 10_000);
  assert.equal(after(3, ["phone", "tablet"]), 500);
  assert.equal(after(4, ["phone", "desktop"]), 500); // Another device may reuse its leaf.
  assert.equal(after(4, ["phone", "desktop"]), null);
});

test("a frame is accepted only once, even if other frames have overtaken it", () => {
  const keys = new FrameKeys();
  const isNew = (counter) => keys.isNew({ kid: 1n, counter: BigInt(counter) });
  assert.deepEqual([0, 2, 1, 1, 0, 2].map(isNew), [true, true, true, false, false, false]);
  for (let counter = 3; counter < 5000; counter += 1) assert.ok(isNew(counter));
  assert.equal(isNew(4000), false);
  assert.equal(isNew(2), false);
  assert.ok(keys.isNew({ kid: 2n, counter: 2n }));
});
