// Signing in with an account of the operator's OpenID provider: sends the person there, and takes what they come back
// with. Authorization code with PKCE (RFC 7636); the nonce is the thumbprint of this browser's key, so that the
// id_token is worth nothing elsewhere. The chat server exchanges the code. Shows nothing.

import { base64url, deviceKey } from "./device_key.js";
import { post, request } from "./http.js";
import { keep, keptLike, SENT_AWAY } from "./kept.js";

const SESSION = "sessionStorage";
const NOTHING = { state: "", verifier: "", issuer: "", redirect: "", hash: "", carried: null };

/** @typedef {{carried: unknown, refused: string, exchange?: undefined} | {carried: unknown, refused?: undefined, exchange: () => Promise<string>}} CameBack */

/**
 * Go there; the page ends. `carried` is given back on return. `another`: ask who it is, even if it is known there.
 * @param {unknown} carried
 */
export async function goToProvider(carried, another = false) {
  const [{ issuer, authorization_endpoint: address, client_id: client }, key] = await Promise.all([request("GET", "/api/auth/provider"), deviceKey()]);
  const [state, verifier, redirect] = [random(), random(), `${location.origin}/`];
  keep(SENT_AWAY, { state, verifier, issuer, redirect, hash: location.hash, carried }, SESSION);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const url = new URL(address);
  const wanted = {
    client_id: client, redirect_uri: redirect, response_type: "code", scope: "openid", state, nonce: key.thumbprint,
    code_challenge: base64url(new Uint8Array(digest)), code_challenge_method: "S256", ...(another && { prompt: "login" }),
  };
  for (const [name, value] of Object.entries(wanted)) url.searchParams.set(name, value);
  location.assign(url);
}

/**
 * What the person came back with, or null where nobody was sent away: {carried, exchange()} or {carried, refused};
 * `refused` is "cancelled", "mismatch", or the provider's own words. Nothing of it stays in the address, where
 * what stood there before is again.
 * @returns {CameBack | null}
 */
export function comeFromProvider() {
  const answer = new URLSearchParams(location.search);
  const answered = answer.has("state") && (answer.has("code") || answer.has("error"));
  const kept = keptLike(NOTHING, SENT_AWAY, SESSION);
  keep(SENT_AWAY, null, SESSION);
  if (answered) history.replaceState(null, "", `${location.pathname}${kept.hash}`);
  if (!kept.state) return answered ? { carried: null, refused: "mismatch" } : null;
  const { state, verifier, issuer, redirect, carried } = kept;
  if (!answered) return { carried, refused: "cancelled" };
  // Somebody else's answer, or one of another provider's (RFC 9207).
  if (answer.get("state") !== state || (answer.get("iss") ?? issuer) !== issuer) return { carried, refused: "mismatch" };
  if (answer.has("error")) {
    const words = answer.get("error_description") || `${answer.get("error")}`;
    return { carried, refused: answer.get("error") === "access_denied" ? "cancelled" : words };
  }
  const given = { code: answer.get("code") ?? "", code_verifier: verifier, redirect_uri: redirect };
  const exchange = async () => (await post("/api/auth/exchange", given)).id_token;
  return { carried, exchange };
}

/** 43 letters: 256 bits, and the least that a verifier may have. */
function random() {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}
