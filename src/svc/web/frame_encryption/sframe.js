// Implements SFrame (RFC 9605) with AES-GCM, which encrypts a frame for everyone who has the base key. The
// frame's header contains the key id (KID) and the counter. Independent of codecs, calls and groups.

const SUITE = 4; // AES_128_GCM_SHA256_128.
const TAG_BYTES = 16;
const KEY_BYTES = 16;
const NONCE_BYTES = 12;
const MAX_INLINE = 8n; // Smaller values fit into the first byte.

const utf8 = new TextEncoder();

/** Return the shortest big-endian encoding of a value; one byte for 0. @param {bigint} value */
function shortest(value) {
  const bytes = [];
  for (let remaining = value; remaining > 0n || !bytes.length; remaining >>= 8n)
    bytes.unshift(Number(remaining & 0xffn));
  return bytes;
}

/** @param {Uint8Array} bytes @returns {bigint} */
const numberIn = (bytes) => bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

/** Build a header (section 4.3). @param {bigint} kid @param {bigint} counter */
export function header(kid, counter) {
  const [key, count] = [kid, counter].map((value) => (value < MAX_INLINE ? [] : shortest(value)));
  const first = (/** @type {bigint} */ value, /** @type {number[]} */ bytes) =>
    bytes.length ? 8 | (bytes.length - 1) : Number(value);
  return new Uint8Array([(first(kid, key) << 4) | first(counter, count), ...key, ...count]);
}

/** Parse a header into {kid, counter, length}; null if it is truncated. @param {Uint8Array} data */
export function readHeader(data) {
  if (!data.length) return null;
  let at = 1;
  const read = (/** @type {number} */ nibble) => {
    if (!(nibble & 8)) return BigInt(nibble & 7);
    const bytes = data.subarray(at, at + (nibble & 7) + 1);
    at += (nibble & 7) + 1;
    return numberIn(bytes);
  };
  const [kid, counter] = [read(data[0] >> 4), read(data[0] & 15)];
  return at <= data.length ? { kid, counter, length: at } : null;
}

/**
 * Derive the key and the salt of a KID (section 4.4.2).
 * @param {Uint8Array<ArrayBuffer>} baseKey
 * @param {bigint} kid
 */
export async function derived(baseKey, kid) {
  const base = await crypto.subtle.importKey("raw", baseKey, "HKDF", false, ["deriveBits"]);
  const suffix = new Uint8Array(10);
  new DataView(suffix.buffer).setBigUint64(0, kid);
  new DataView(suffix.buffer).setUint16(8, SUITE);
  const expand = (/** @type {string} */ label, /** @type {number} */ size) => {
    const info = joined(utf8.encode(label), suffix);
    return crypto.subtle.deriveBits(
      { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info },
      base,
      size * 8,
    );
  };
  const key = await expand("SFrame 1.0 Secret key ", KEY_BYTES);
  const salt = new Uint8Array(await expand("SFrame 1.0 Secret salt ", NONCE_BYTES));
  return {
    kid,
    salt,
    key: await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt", "decrypt"]),
  };
}

/** @param {Uint8Array} salt @param {bigint} counter */
function nonceOf(salt, counter) {
  const nonce = new Uint8Array(salt);
  shortest(counter)
    .reverse()
    .forEach((byte, at) => {
      nonce[NONCE_BYTES - 1 - at] ^= byte;
    });
  return nonce;
}

/**
 * Encrypt data. Return the header and the ciphertext. `additionalData` is authenticated as well, but
 * transmitted separately. Callers must never use a counter twice with the same key.
 * @param {Awaited<ReturnType<typeof derived>>} keys @param {bigint} counter @param {Uint8Array<ArrayBuffer>}
 *   data @param {Uint8Array} additionalData
 */
export async function encrypt({ kid, key, salt }, counter, data, additionalData) {
  const head = header(kid, counter);
  const parameters = {
    name: "AES-GCM",
    iv: nonceOf(salt, counter),
    additionalData: joined(head, additionalData),
  };
  return joined(head, new Uint8Array(await crypto.subtle.encrypt(parameters, key, data)));
}

/**
 * Decrypt data. Rejects if it was encrypted with a different key or tampered with.
 * @param {Awaited<ReturnType<typeof derived>>} keys @param {Uint8Array<ArrayBuffer>} data @param {Uint8Array}
 *   additionalData
 */
export async function decrypt({ kid, key, salt }, data, additionalData) {
  const head = readHeader(data);
  if (head?.kid !== kid || data.length < head.length + TAG_BYTES)
    throw new RangeError("not a frame of this key");
  const parameters = {
    name: "AES-GCM",
    iv: nonceOf(salt, head.counter),
    additionalData: joined(data.subarray(0, head.length), additionalData),
  };
  return new Uint8Array(await crypto.subtle.decrypt(parameters, key, data.subarray(head.length)));
}

/** @param {...Uint8Array} parts */
export function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
