// Signs in with an account from the operator's OpenID provider: sends the member to the provider and handles
// the result. Uses an authorization code with PKCE (RFC 7636), which the chat server exchanges for an
// id_token. The nonce is the thumbprint of this browser's key, so the id_token is useless elsewhere.

import { base64url, deviceKey } from "./device_key.js";
import { post, request } from "./http.js";
import { storeValue, storedValue, SENT_AWAY } from "./browser_storage.js";

const SESSION = "sessionStorage";
const NOTHING = { state: "", verifier: "", issuer: "", redirect: "", hash: "", carried: null };

/**
 * @typedef {{carried: unknown, refused: string, exchange?: undefined} | {carried: unknown, refused?:
 *   undefined, exchange: () => Promise<string>}} ProviderResponse
 */

/**
 * Leave the page and go to the provider. `comeFromProvider` returns `carried` when the member comes back. If
 * `another` is set, the provider asks for a login even if the member is already signed in there.
 * @param {unknown} carried
 */
export async function goToProvider(carried, another = false) {
  const [{ issuer, authorization_endpoint: address, client_id: client }, key] = await Promise.all([
    request("GET", "/api/auth/provider"),
    deviceKey(),
  ]);
  const [state, verifier, redirect] = [random(), random(), `${location.origin}/`];
  storeValue(SENT_AWAY, { state, verifier, issuer, redirect, hash: location.hash, carried }, SESSION);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const url = new URL(address);
  const wanted = {
    client_id: client,
    redirect_uri: redirect,
    response_type: "code",
    scope: "openid",
    state,
    nonce: key.thumbprint,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: "S256",
    ...(another && { prompt: "login" }),
  };
  for (const [name, value] of Object.entries(wanted)) url.searchParams.set(name, value);
  location.assign(url);
}

/**
 * Return the provider's result: {carried, exchange()} or {carried, refused}. Return null if the member has
 * not come back from the provider. `refused` is "cancelled", "mismatch", or the provider's error message.
 * Restores the URL from before the visit.
 * @returns {ProviderResponse | null}
 */
export function comeFromProvider() {
  const answer = new URLSearchParams(location.search);
  const answered = answer.has("state") && (answer.has("code") || answer.has("error"));
  const stored = storedValue(NOTHING, SENT_AWAY, SESSION);
  storeValue(SENT_AWAY, null, SESSION);
  if (answered) history.replaceState(null, "", `${location.pathname}${stored.hash}`);
  if (!stored.state) return answered ? { carried: null, refused: "mismatch" } : null;
  const { state, verifier, issuer, redirect, carried } = stored;
  if (!answered) return { carried, refused: "cancelled" };
  // The response belongs to a different request, or comes from a different provider (RFC 9207).
  if (answer.get("state") !== state || (answer.get("iss") ?? issuer) !== issuer)
    return { carried, refused: "mismatch" };
  if (answer.has("error")) {
    const words = answer.get("error_description") || `${answer.get("error")}`;
    return { carried, refused: answer.get("error") === "access_denied" ? "cancelled" : words };
  }
  const given = { code: answer.get("code") ?? "", code_verifier: verifier, redirect_uri: redirect };
  const exchange = async () => (await post("/api/auth/exchange", given)).id_token;
  return { carried, exchange };
}

/** Return 43 random characters, the minimum length of a verifier. They carry 256 bits of entropy. */
function random() {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}
