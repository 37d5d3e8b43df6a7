// Tests that a call's tiles fill the space, side by side on a wide screen and in two columns on a phone.

import assert from "node:assert/strict";
import { test } from "node:test";

import { GAP_PX, pictureWidth, tileSizes } from "../../src/svc/web/state/tile_layout.js";

const [WIDE, PHONE, FULL] = [
  [1000, 620],
  [370, 640],
  [1640, 900],
];
const columns = (tile, width) => Math.floor((width + GAP_PX) / (tile.width + GAP_PX));

test("two people are side by side on a wide screen, and stacked on a phone", () => {
  assert.equal(columns(tileSizes(2, ...WIDE), WIDE[0]), 2);
  assert.equal(columns(tileSizes(2, ...FULL), FULL[0]), 2);
  assert.equal(columns(tileSizes(2, ...PHONE), PHONE[0]), 1);
});

test("three or more people are in two columns on a phone, and a single last tile fills its row", () => {
  for (const count of [3, 4, 6]) assert.equal(columns(tileSizes(count, ...PHONE), PHONE[0]), 2, count);
  assert.equal(tileSizes(3, ...PHONE).end, 370);
  assert.equal(tileSizes(4, ...PHONE).end, tileSizes(4, ...PHONE).width);
});

test("every tile fits, or the list scrolls and its rows are full", () => {
  for (const [width, height] of [WIDE, PHONE, FULL, [220, 700], [320, 300], [160, 160]])
    for (let count = 1; count <= 25; count++) {
      const tile = tileSizes(count, width, height);
      const rows = Math.ceil(count / columns(tile, width));
      const used = rows * tile.height + (rows - 1) * GAP_PX;
      const ratio = tile.width / tile.height;
      assert.ok(tile.width >= Math.min(width, 150) && ratio > 0.55 && ratio < 1.8, [
        count,
        width,
        height,
        ratio,
      ]);
      if (used > height)
        assert.ok(columns(tile, width) * (150 + GAP_PX) > width - 150, [count, width, height]);
    }
});

test("the tiles for two and for four people fill most of every stage", () => {
  for (const [width, height] of [WIDE, PHONE, FULL])
    for (const count of [2, 4]) {
      const tile = tileSizes(count, width, height);
      const share = (count * tile.width * tile.height) / (width * height);
      assert.ok(share > 0.64, `${count} in ${width}×${height}: ${share}`);
    }
});

test("a single shared screen gets all of the space", () => {
  assert.deepEqual(tileSizes(1, ...WIDE, true), { width: 1000, height: 620, end: 1000 });
});

test("two shared screens are placed so that each is as large as possible", () => {
  assert.equal(columns(tileSizes(2, 740, 440, true), 740), 1);
  assert.equal(columns(tileSizes(2, 1600, 440, true), 1600), 2);
});

test("a camera whose sides are cropped is requested at nearly its uncropped width", () => {
  assert.equal(pictureWidth({ width: 180, height: 270 }), 418);
  assert.equal(pictureWidth({ width: 640, height: 360 }), 640);
});
