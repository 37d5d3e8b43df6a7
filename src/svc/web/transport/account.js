// Signs in to our account with this browser's key, and keeps the access token fresh. Optionally, an id_token
// or a certificate vouches for the key. All tabs share the stored state, and only one tab at a time renews
// the token.

/** @import { Member } from "../types/api.js" */
/** @import { ResponseBody, Body, TypedEventTarget } from "../types/wire.js" */
/** @import { DeviceKey } from "./device_key.js" */

import { post, Refusal } from "./http.js";
import { deviceKey, forgetDeviceKey, signed } from "./device_key.js";
import { withLock, storeValue, storedValue, like } from "./browser_storage.js";

// In localStorage: {member, proof, access_token, refresh_token, fresh_until, good_until}.
const STORED_IDENTITY = "svc.identity";
const KNOWN = "svc.known"; // In localStorage: the member who has signed out, {id, nickname, way}.
const TURN = "svc.identity"; // The lock for changing the identity.
// Fractions of a token's lifetime. A token is renewed after the first fraction but used until the second, so
// requests need not wait for a renewal while the network is down.
const [FRESH_SHARE, GOOD_SHARE] = [2 / 3, 14 / 15];
const RETRY_MS = 15_000;
// The timeout for a renewal that a request is waiting for. TCP doubles its retransmission intervals, so once
// the network is back, a new request gets a response sooner than an old one.
const HURRIED_MS = 5000;

/**
 * @typedef {"local" | "account" | "certificate"} Way
 * @typedef {{way: Way, idToken?: string, certificate?: string}} Proof
 * @typedef {{member: Member, proof: Proof, access_token: string, refresh_token: string, fresh_until: number,
 *   good_until: number}} Identity
 * @typedef {"fresh_until" | "good_until"} Until
 * @typedef {Omit<Body<"POST", "/api/auth/join">, "assertion">} JoinDetails
 * @typedef {ResponseBody<"POST", "/api/auth/refresh"> & {member?: Member | null, proof?: Proof}} FreshTokens
 */

/** The proof of a member who is identified only by this browser's key. @type {Proof} */
export const LOCAL = { way: "local" };
/** @type {Identity} */
const NOBODY = {
  member: /** @type {Member} */ ({}),
  proof: /** @type {Proof} */ ({}),
  access_token: "",
  refresh_token: "",
  fresh_until: 0,
  good_until: 0,
};
const NAMED = { id: "", nickname: "", roles: [] };

/**
 * Our account. A proof is {way: "local"}, {way: "account", idToken} or {way: "certificate", certificate}.
 * Dispatches "renewed" with a new access token as its detail, for connections that use the previous token.
 */
export class Account extends /** @type {TypedEventTarget<{renewed: string}>} */ (EventTarget) {
  /** @type {Identity | null} */ #identity = null;
  #timer = 0;

  constructor() {
    super();
    this.#load();
    this.#plan();
  }

  /** The signed-in member, as last described by the server; null if nobody is signed in. */
  get member() {
    return this.#identity?.member ?? null;
  }

  /** How we signed in: "local", "account" or "certificate". */
  get way() {
    return this.#identity?.proof.way ?? "local";
  }

  /** The member who last signed out in this browser, {id, nickname, way}, or null. */
  get known() {
    const known = storedValue({ id: "", nickname: "", way: /** @type {Way} */ ("local") }, KNOWN);
    return known.id ? known : null;
  }

  /** Forget the member who last signed out. Keep the keys. */
  dropKnown() {
    storeValue(KNOWN, null);
  }

  /**
   * Join, or sign in as the member that the proof identifies. Resolves with the server's response.
   * @param {JoinDetails} details
   */
  join(details, proof = LOCAL) {
    return this.#withLock(() => this.#signIn(proof, details));
  }

  /**
   * Return a token that stays valid for a while and differs from `rejected`, a token that the server has
   * rejected. Rejects with a permanent Refusal if the server no longer recognises us.
   * @param {string | null} [rejected]
   */
  async accessToken(rejected = null) {
    if (!this.#isGood("good_until", rejected)) await this.#renew("good_until", rejected);
    return this.#identity?.access_token ?? ""; // We may have signed out in the meantime.
  }

  /** Delete the server's tokens. Keep the key, so that signing in later restores the same member. */
  signOut(member = this.member) {
    clearTimeout(this.#timer);
    const { refresh_token: token, proof = LOCAL } = this.#identity ?? {};
    if (token && member) storeValue(KNOWN, { id: member.id, nickname: member.nickname, way: proof.way });
    this.#identity = null;
    storeValue(STORED_IDENTITY, null);
    if (token) post("/api/auth/logout", { refresh_token: token }).catch(() => {});
  }

  /** Delete the identity. The next person who joins in this browser becomes a new member. */
  async forget() {
    this.signOut();
    this.dropKnown();
    await forgetDeviceKey();
  }

  /** @param {Until} until @param {string | null} [rejected] */
  async #renew(until, rejected) {
    await this.#withLock(async () => {
      this.#load();
      if (!this.#identity) throw new Refusal({ error: "signed_out" });
      if (this.#isGood(until, rejected)) return; // Another tab was faster.
      try {
        const deadlineMs = this.#isGood("good_until", rejected) ? undefined : HURRIED_MS;
        const fresh = await post(
          "/api/auth/refresh",
          { refresh_token: this.#identity.refresh_token },
          deadlineMs,
        );
        if (this.#identity) this.#keep(fresh);
      } catch (/** @type {any} */ error) {
        if (error.code !== "refresh_invalid") throw error;
        if (this.#identity) await this.#signIn(this.#identity.proof, {});
      }
    });
    this.#plan();
  }

  /** @param {Proof} proof @param {JoinDetails} details */
  async #signIn(proof, details) {
    if (proof.way === "account" && !proof.idToken) {
      throw new Refusal({ error: "sign_in_again" });
    }
    const [challenge, key] = await Promise.all([post("/api/auth/challenge", {}), deviceKey()]);
    const sent = await signAssertion(proof, key, challenge);
    const answer = await post("/api/auth/join", { ...sent, device_name: deviceName(), ...details });
    // An id_token is short-lived; a certificate can be valid for years.
    this.#keep({ ...answer, proof: proof.way === "account" ? { way: "account" } : proof });
    this.dropKnown();
    this.#plan();
    return answer;
  }

  /** @param {FreshTokens} tokens */
  #keep({
    member = this.member,
    proof = this.#identity?.proof,
    access_token,
    refresh_token,
    expires_in_ms: life,
  }) {
    const [fresh_until, good_until] = [FRESH_SHARE, GOOD_SHARE].map((share) => Date.now() + life * share);
    this.#identity = /** @type {Identity} */ ({
      member,
      proof,
      access_token,
      refresh_token,
      fresh_until,
      good_until,
    });
    storeValue(STORED_IDENTITY, this.#identity);
  }

  #load() {
    const stored = storedValue(NOBODY, STORED_IDENTITY);
    if (!stored.proof.way) stored.proof = LOCAL;
    stored.member = { ...stored.member, ...like(NAMED, stored.member) };
    // Data from an earlier version is not a valid identity.
    this.#identity = stored.refresh_token && stored.member.id ? stored : null;
  }

  /** @param {Until} until @param {string | null} [rejected] */
  #isGood(until, rejected = null) {
    return (
      this.#identity !== null &&
      Date.now() < this.#identity[until] &&
      this.#identity.access_token !== rejected
    );
  }

  /** Schedule a renewal before the token expires. */
  #plan(delay = this.#identity ? Math.max(0, this.#identity.fresh_until - Date.now()) : null) {
    clearTimeout(this.#timer);
    if (delay === null) return;
    this.#timer = setTimeout(async () => {
      try {
        await this.#renew("fresh_until");
        this.dispatchEvent(new CustomEvent("renewed", { detail: await this.accessToken() }));
      } catch {
        if (this.#identity) this.#plan(RETRY_MS); // Retry later. The live socket reports permanent errors.
      }
    }, delay);
  }

  /** @template T @param {() => Promise<T>} act */
  #withLock(act) {
    return withLock(TURN, act);
  }
}

/**
 * Return a signed proof that we hold the key, for signing in. See docs/http.md, "Signing in and devices".
 * @param {Proof} proof @param {DeviceKey} key @param {{audience: string, nonce: string}} challenge
 */
async function signAssertion(proof, key, { audience, nonce }) {
  const { way, idToken, certificate } = proof;
  const token = idToken ?? certificate;
  const sub = way === "local" ? key.thumbprint : claimsOf(token).sub;
  const claims = { aud: audience, nonce, sub, origin: location.origin };
  if (way === "account") return { id_token: token, assertion: await signed(key, claims, { jwk: key.jwk }) };
  const [own, assertion] = await Promise.all([
    certificate ?? signed(key, { jwk: key.jwk, sub }),
    signed(key, claims),
  ]);
  return { certificate: own, assertion };
}

/**
 * Return a JWT's claims, unverified; {} if the token is not a JWT.
 * @param {string | undefined} token
 * @returns {Record<string, unknown>}
 */
export function claimsOf(token) {
  try {
    const payload = `${token}`.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    const letters = Uint8Array.from(atob(payload), (letter) => letter.charCodeAt(0));
    return Object(JSON.parse(new TextDecoder().decode(letters)));
  } catch {
    return {};
  }
}

/** Return a name for this device in the member's list: the browser and the operating system. */
function deviceName() {
  const agent = navigator.userAgent;
  const browser = /Firefox|Edg|Chrome|Safari/.exec(agent)?.[0].replace("Edg", "Edge") ?? "Browser";
  const system = /Android|iPhone|iPad|Windows|Mac OS|Linux/.exec(agent)?.[0];
  return system ? `${browser} on ${system}` : browser;
}
