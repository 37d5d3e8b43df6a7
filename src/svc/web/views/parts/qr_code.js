// Generates QR codes (ISO/IEC 18004) for short texts, in byte mode, at error correction level M, in versions
// 1 to 10. Codes are dark on light in every theme, because some phones cannot read inverted codes.

import { html, useMemo } from "../../vendor/preact.js";

/** Whether each module is dark. Null until it is set. @typedef {(boolean | null)[][]} Rows */

/**
 * The error correction bytes per block and the data bytes of each block, for each version, starting with 1.
 * @type {[number, number[]][]}
 */
const BLOCKS = [
  [10, [16]],
  [16, [28]],
  [26, [44]],
  [18, [32, 32]],
  [24, [43, 43]],
  [16, [27, 27, 27, 27]],
  [18, [31, 31, 31, 31]],
  [22, [38, 38, 39, 39]],
  [22, [36, 36, 36, 37, 37]],
  [26, [43, 43, 43, 43, 44]],
];
const ALIGNED = [
  [],
  [6, 18],
  [6, 22],
  [6, 26],
  [6, 30],
  [6, 34],
  [6, 22, 38],
  [6, 24, 42],
  [6, 26, 46],
  [6, 28, 50],
];
/** @type {((y: number, x: number) => number)[]} */
const MASKS = [
  (y, x) => (y + x) % 2,
  (y) => y % 2,
  (_y, x) => x % 3,
  (y, x) => (y + x) % 3,
  (y, x) => (Math.floor(y / 2) + Math.floor(x / 3)) % 2,
  (y, x) => ((y * x) % 2) + ((y * x) % 3),
  (y, x) => (((y * x) % 2) + ((y * x) % 3)) % 2,
  (y, x) => (((y + x) % 2) + ((y * x) % 3)) % 2,
];

/**
 * Return rows of true (dark) and false, or null if the text is too long. Without `mask`, use the mask with
 * the lowest penalty score.
 * @param {string} text
 * @param {number | null} [mask]
 */
export function qrMatrix(text, mask = null) {
  const bytes = [...new TextEncoder().encode(text)];
  const version =
    1 +
    BLOCKS.findIndex(
      ([, data], at) => bytes.length + (at < 9 ? 2 : 3) <= data.reduce((sum, count) => sum + count, 0),
    );
  if (!version) return null;
  const bits = codewords(bytes, version).flatMap((byte) => bitsOf(byte, 8));
  const made = (mask === null ? MASKS.map((_, number) => number) : [mask]).map((number) =>
    drawn(bits, version, number),
  );
  return made.reduce((best, code) => (penalty(code) < penalty(best) ? code : best));
}

const bitsOf = (/** @type {number} */ value, /** @type {number} */ count) =>
  Array.from({ length: count }, (_, at) => (value >> (count - 1 - at)) & 1);

/** @param {number[]} bytes @param {number} version */
function codewords(bytes, version) {
  const [correction, sizes] = BLOCKS[version - 1];
  const room = sizes.reduce((sum, size) => sum + size, 0);
  const bits = [
    0,
    1,
    0,
    0,
    ...bitsOf(bytes.length, version < 10 ? 8 : 16),
    ...bytes.flatMap((byte) => bitsOf(byte, 8)),
    0,
    0,
    0,
    0,
  ].slice(0, room * 8);
  while (bits.length % 8) bits.push(0);
  const data = Array.from({ length: bits.length / 8 }, (_, at) =>
    bits.slice(at * 8, at * 8 + 8).reduce((sum, bit) => sum * 2 + bit, 0),
  );
  for (let pad = 0xec; data.length < room; pad ^= 0xec ^ 0x11) data.push(pad);
  let from = 0;
  const blocks = sizes.map((size) => data.slice(from, (from += size)));
  const checks = blocks.map((block) => remainder(block, correction));
  const woven = (/** @type {number[][]} */ lists) =>
    Array.from({ length: Math.max(...lists.map(({ length }) => length)) }, (_, at) =>
      lists.map((list) => list[at]).filter((byte) => byte !== undefined),
    ).flat();
  return [...woven(blocks), ...woven(checks)];
}

/** Multiply in GF(256) with the polynomial 0x11d. @param {number} a @param {number} b */
function times(a, b) {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >> 7) * 0x11d);
    product ^= ((b >> bit) & 1) * a;
  }
  return product;
}

/**
 * Return the Reed-Solomon remainder of the data, divided by the generator of this degree.
 * @param {number[]} data
 * @param {number} degree
 */
function remainder(data, degree) {
  let generator = [1];
  for (let at = 0, root = 1; at < degree; at++, root = times(root, 2)) {
    const product = [...generator, 0];
    generator.forEach((coefficient, index) => {
      product[index + 1] ^= times(coefficient, root);
    });
    generator = product;
  }
  const left = [...data, ...Array(degree).fill(0)];
  for (let at = 0; at < data.length; at++) {
    const factor = left[at];
    generator.forEach((coefficient, index) => {
      left[at + index] ^= times(coefficient, factor);
    });
  }
  return left.slice(data.length);
}

/**
 * Return the value followed by its BCH remainder, in `total` bits.
 * @param {number} value @param {number} generator @param {number} total @param {number} length
 */
function withCheck(value, generator, total, length) {
  let left = value << (total - length);
  const width = total - length + 1;
  for (let bit = total - 1; bit >= width - 1; bit--)
    if ((left >> bit) & 1) left ^= generator << (bit - width + 1);
  return (value << (total - length)) | left;
}

/** @param {number[]} bits @param {number} version @param {number} mask */
function drawn(bits, version, mask) {
  const size = 17 + 4 * version;
  /** @type {Rows} */
  const rows = Array.from({ length: size }, () => Array(size).fill(null));
  /** @param {number} y @param {number} x @param {boolean | number} dark */
  const set = (y, x, dark) => {
    if (y >= 0 && x >= 0 && y < size && x < size) rows[y][x] = Boolean(dark);
  };
  /** @param {number} y @param {number} x @param {number} reach @param {number[]} light */
  const rings = (y, x, reach, light) => {
    for (let dy = -reach; dy <= reach; dy++)
      for (let dx = -reach; dx <= reach; dx++)
        set(y + dy, x + dx, !light.includes(Math.max(Math.abs(dy), Math.abs(dx))));
  };
  for (const [y, x] of [
    [3, 3],
    [3, size - 4],
    [size - 4, 3],
  ])
    rings(y, x, 4, [2, 4]);
  const centres = ALIGNED[version - 1];
  for (const y of centres) for (const x of centres) if (rows[y][x] === null) rings(y, x, 2, [1]);
  for (let at = 8; at < size - 8; at++) {
    set(6, at, at % 2 === 0);
    set(at, 6, at % 2 === 0);
  }
  // Level M is 00. The standard masks the format information so that it is never all zeros.
  const format = bitsOf(withCheck(mask, 0x537, 15, 5) ^ 0x5412, 15).reverse();
  format.forEach((bit, at) => {
    set(at < 6 ? at : at < 8 ? at + 1 : size - 15 + at, 8, bit);
    set(8, at < 8 ? size - 1 - at : at < 9 ? 7 : 14 - at, bit);
  });
  set(size - 8, 8, true);
  if (version >= 7) {
    bitsOf(withCheck(version, 0x1f25, 18, 6), 18)
      .reverse()
      .forEach((bit, at) => {
        set(Math.floor(at / 3), size - 11 + (at % 3), bit);
        set(size - 11 + (at % 3), Math.floor(at / 3), bit);
      });
  }
  fill(rows, bits, mask);
  return rows;
}

/**
 * Place the bits in a zigzag, two columns at a time from the right.
 * @param {Rows} rows
 * @param {number[]} bits
 * @param {number} mask
 */
function fill(rows, bits, mask) {
  const size = rows.length;
  let next = 0;
  let up = true;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step++) {
      const y = up ? size - 1 - step : step;
      for (const x of [right, right - 1])
        if (rows[y][x] === null) rows[y][x] = Boolean((bits[next++] ?? 0) ^ Number(MASKS[mask](y, x) === 0));
    }
    up = !up;
  }
}

/** Return the penalty score that the standard defines for choosing a mask. @param {Rows} rows */
function penalty(rows) {
  const size = rows.length;
  const lines = [...rows, ...rows.map((_, x) => rows.map((row) => row[x]))].map((line) =>
    line.map(Number).join(""),
  );
  let sum = 0;
  for (const line of lines) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) sum += run.length - 2;
    sum += 40 * [...line.matchAll(/(?=10111010000|00001011101)/g)].length;
  }
  let dark = 0;
  for (const [y, row] of rows.entries())
    for (const [x, cell] of row.entries()) {
      dark += Number(cell);
      if (y && x && cell === rows[y - 1][x] && cell === row[x - 1] && cell === rows[y - 1][x - 1]) sum += 3;
    }
  return sum + 10 * Math.floor(Math.abs((20 * dark) / size ** 2 - 10));
}

const MARGIN = 4; // The quiet zone that the standard requires.

/** @param {{text: string, label: string}} props */
export function QrCode({ text, label }) {
  const rows = useMemo(() => qrMatrix(text), [text]);
  if (!rows) return null;
  const size = rows.length + 2 * MARGIN;
  const path = rows
    .flatMap((row, y) => row.map((dark, x) => (dark ? `M${x + MARGIN} ${y + MARGIN}h1v1h-1z` : "")))
    .join("");
  return html`<svg class="qr" viewBox=${`0 0 ${size} ${size}`} role="img" aria-label=${label}>
    <rect width=${size} height=${size} fill="#fff" />
    <path d=${path} fill="#000" shape-rendering="crispEdges" />
  </svg>`;
}
