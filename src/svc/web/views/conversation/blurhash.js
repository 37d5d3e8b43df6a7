// Draws a BlurHash, a small blurred preview of an image that has not loaded yet. The server creates the
// hashes in base/blurhash.

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~";
const WIDTH = 24;
const HEIGHT = 18;

/**
 * Return a canvas with the blurred image, which the caller must stretch. Return null if `hash` is invalid.
 * @param {string} hash
 */
export function blurred(hash) {
  const size = number(hash.slice(0, 1));
  const [columns, rows] = [(size % 9) + 1, Math.floor(size / 9) + 1];
  if (hash.length !== 4 + 2 * columns * rows || [...hash].some((digit) => !DIGITS.includes(digit)))
    return null;
  const scale = (number(hash[1]) + 1) / 166;
  const factors = Array.from({ length: columns * rows }, (_, index) =>
    index === 0
      ? mean(number(hash.slice(2, 6)))
      : wave(number(hash.slice(4 + index * 2, 6 + index * 2)), scale),
  );
  const canvas = Object.assign(document.createElement("canvas"), { width: WIDTH, height: HEIGHT });
  const context = canvas.getContext("2d");
  if (!context) return null;
  const image = context.createImageData(WIDTH, HEIGHT);
  for (let pixel = 0; pixel < WIDTH * HEIGHT; pixel++) {
    image.data.set([...colour(factors, columns, pixel % WIDTH, Math.floor(pixel / WIDTH)), 255], pixel * 4);
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** @param {number[][]} factors @param {number} columns @param {number} x @param {number} y */
function colour(factors, columns, x, y) {
  const sum = [0, 0, 0];
  factors.forEach((factor, index) => {
    const across = Math.cos((Math.PI * x * (index % columns)) / WIDTH);
    const down = Math.cos((Math.PI * y * Math.floor(index / columns)) / HEIGHT);
    for (let channel = 0; channel < 3; channel++) sum[channel] += factor[channel] * across * down;
  });
  return sum.map(encoded);
}

const number = (/** @type {string} */ digits) =>
  [...digits].reduce((value, digit) => value * 83 + DIGITS.indexOf(digit), 0);
const mean = (/** @type {number} */ rgb) => [rgb >> 16, (rgb >> 8) & 255, rgb & 255].map(linear);
const wave = (/** @type {number} */ steps, /** @type {number} */ scale) =>
  [Math.floor(steps / 361), Math.floor(steps / 19) % 19, steps % 19].map(
    (step) => Math.sign(step - 9) * ((step - 9) / 9) ** 2 * scale,
  );

/** @param {number} value */
function linear(value) {
  const share = value / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

/** @param {number} light */
function encoded(light) {
  const share = Math.max(0, Math.min(1, light));
  return Math.round((share <= 0.0031308 ? share * 12.92 : 1.055 * share ** (1 / 2.4) - 0.055) * 255);
}
