// Signs and verifies the statements that link accounts on two servers. Statements are JWTs, each signed with
// this browser's key for that server. Sends and stores nothing. See docs/servers.md.

/** @import { DeviceKey } from "./device_key.js" */

import { base64url, signed } from "./device_key.js";

export const LINK = "same_person";
/** The `use` of a request for a statement. A request does not name an account on the other server. */
export const REQUEST = "same_person_request";

const MAX_LENGTH = 2048; // The same limit as on the server.
const CURVE = { name: "ECDSA", namedCurve: "P-256" };
const SIGNATURE = { name: "ECDSA", hash: "SHA-256" };

/**
 * In a request, `sub` at `iss` requests a link to the person's account at `aud`. In a statement, `sub` at
 * `iss` is the same person as `peer` at `aud`, and `peer_key` is the thumbprint of the key of `peer`.
 * @typedef {{use: string, iss: string, sub: string, aud: string, made_at_ms: number, peer?: string,
 *   peer_key?: string}} Claims
 * @typedef {Claims & {key: string, text: string}} Statement A verified statement with the thumbprint of its
 *   key.
 */

/**
 * Sign a statement. It includes the public key, so anyone can verify it.
 * @param {DeviceKey} key @param {Claims} claims
 */
export const makeStatement = (key, claims) => signed(key, claims, { jwk: key.jwk });

/**
 * Verify a statement with the key that it contains. Return its claims, or null if it is invalid.
 * @param {string} text @returns {Promise<Statement | null>}
 */
export async function readStatement(text) {
  try {
    if (text.length > MAX_LENGTH) return null;
    const [head, body, signature, ...more] = text.split(".");
    const [{ alg, jwk }, claims] = [head, body].map((part) =>
      JSON.parse(new TextDecoder().decode(bytes(part))),
    );
    const { crv, kty, x, y } = jwk;
    const key = await crypto.subtle.importKey("jwk", { crv, kty, x, y }, CURVE, false, ["verify"]);
    const isSigned = await crypto.subtle.verify(SIGNATURE, key, bytes(signature), utf8(`${head}.${body}`));
    if (alg !== "ES256" || more.length || !isSigned || !isComplete(claims)) return null;
    // RFC 7638 requires these members in this order.
    return { ...claims, key: await digestOf(JSON.stringify({ crv, kty, x, y })), text };
  } catch {
    return null; // The text is not a statement.
  }
}

/** @param {any} claims @returns {claims is Claims} */
function isComplete(claims) {
  const isText = (/** @type {string} */ name) => typeof claims[name] === "string" && claims[name] !== "";
  const isLink = claims.use === LINK && isText("peer") && isText("peer_key");
  const isKnown = isLink || claims.use === REQUEST;
  return isKnown && ["iss", "sub", "aud"].every(isText) && Number.isSafeInteger(claims.made_at_ms);
}

/**
 * Return whether two verified statements refer to each other's accounts and so form a link.
 * @param {Statement} a @param {Statement} b
 */
export const matches = (a, b) => names(a, b) && names(b, a) && a.iss !== b.iss;

/** @param {Statement} by @param {Statement} about */
const names = (by, about) =>
  by.use === LINK && by.aud === about.iss && by.peer === about.sub && by.peer_key === about.key;

/** Return the SHA-256 digest of a text in base64url. @param {string} text */
export const digestOf = async (text) =>
  base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(text))));

/** @param {string} text */
const utf8 = (text) => new TextEncoder().encode(text);

/** @param {string} text The text in base64url. */
const bytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
