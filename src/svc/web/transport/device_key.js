// Manages this browser's key and signs data with it. The key is created once and stored in IndexedDB, and
// cannot be extracted, not even by this page. Without storage, the key lasts until the page is closed. Anyone
// who can use the key can act as the member.

import { databaseStore } from "./browser_storage.js";

const inStore = databaseStore("svc", "keys");
const NAME = "device";
const CURVE = { name: "ECDSA", namedCurve: "P-256" };
const SIGNATURE = { name: "ECDSA", hash: "SHA-256" };

/**
 * Return whether this page may create keys. Browsers allow this only on https:// pages and on pages from
 * localhost.
 */
export const available = () => Boolean(globalThis.crypto?.subtle && globalThis.indexedDB);

/**
 * A public key as a JWK (RFC 7517).
 * @typedef {Pick<JsonWebKey, "crv" | "kty" | "x" | "y">} PublicKey
 * @typedef {{privateKey: CryptoKey, jwk: PublicKey, thumbprint: string}} DeviceKey
 */

/** Return the key, created on first use. @returns {Promise<DeviceKey>} */
export async function deviceKey() {
  const { privateKey, publicKey } = await pair();
  const { crv, kty, x, y } = await crypto.subtle.exportKey("jwk", publicKey);
  // RFC 7638 requires these members in this order.
  const digest = await crypto.subtle.digest("SHA-256", bytes(JSON.stringify({ crv, kty, x, y })));
  return { privateKey, jwk: { crv, kty, x, y }, thumbprint: base64url(new Uint8Array(digest)) };
}

/** Delete the key. Nobody can use this identity afterwards. */
export async function forgetDeviceKey() {
  if (unkept) unkept = null;
  else await inStore("readwrite", (store) => store.delete(NAME));
}

/** Resolve with whether the key will still exist when the page is opened again. */
export const keepsKey = () =>
  stored().then(
    () => unkept === null,
    () => false,
  );

/**
 * Return a JWT with these claims, signed with the key; `header` is added to its header.
 * @param {Pick<DeviceKey, "privateKey">} key @param {object} claims
 */
export async function signed({ privateKey }, claims, header = {}) {
  const parts = [{ alg: "ES256", typ: "JWT", ...header }, claims].map((part) =>
    base64url(bytes(JSON.stringify(part))),
  );
  const signature = await crypto.subtle.sign(SIGNATURE, privateKey, bytes(parts.join(".")));
  return [...parts, base64url(new Uint8Array(signature))].join(".");
}

/** @type {CryptoKeyPair | null} */
let unkept = null;

/** @returns {Promise<CryptoKeyPair>} */
async function pair() {
  if (unkept) return unkept;
  const createKey = () => crypto.subtle.generateKey(CURVE, false, ["sign", "verify"]);
  try {
    return (await stored()) ?? (await keep(await createKey()));
  } catch {
    unkept ??= await createKey();
    return unkept;
  }
}

/** @returns {Promise<CryptoKeyPair | undefined>} */
const stored = () => inStore("readonly", (store) => store.get(NAME));

/**
 * Store a new key, unless another tab has stored one in the meantime. Return the stored key.
 * @param {CryptoKeyPair} createKey
 */
async function keep(createKey) {
  let stored = createKey;
  await inStore("readwrite", (store) => {
    const before = store.get(NAME);
    before.addEventListener("success", () => {
      if (before.result) stored = before.result;
      else store.put(createKey, NAME);
    });
    return before;
  });
  return stored;
}

/** @param {string} text */
const bytes = (text) => new TextEncoder().encode(text);

/** Encode as in RFC 4648 section 5, without padding. @param {Uint8Array} data */
export function base64url(data) {
  return btoa(String.fromCharCode(...data))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
