// Tests that RED blocks survive a round trip, and that malformed payloads are rejected.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readRed, writeRed } from "../../src/svc/web/frame_encryption/redundancy.js";

const block = (offset, ...data) => ({ type: 111, offset, data: Uint8Array.from(data) });
const LONG = block(16383, ...Array.from({ length: 1023 }, () => 7));

test("blocks are unchanged after writing and reading", () => {
  for (const blocks of [[block(0, 1)], [block(960, 1, 2), block(0, 3)], [LONG, block(960), block(0)]])
    assert.deepEqual(readRed(writeRed(blocks)), blocks);
  assert.deepEqual([...writeRed([block(960, 1, 2), block(0, 3)])], [0xef, 15, 0, 2, 0x6f, 1, 2, 3]);
});

test("a payload without its primary block or with a truncated block is rejected", () => {
  const whole = writeRed([block(960, 1, 2), block(0)]);
  for (let length = 0; length < whole.length; length += 1)
    assert.equal(readRed(whole.subarray(0, length)), null);
});
