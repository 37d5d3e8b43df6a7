// Who we are to the server: signs in with this browser's key, alone or with what vouches for it, and keeps an access
// token fresh. All tabs share what is kept here, and only one of them renews it at a time. Shows nothing.

/** @import { Member } from "../types/api.js" */
/** @import { Answer, Body, Telling } from "../types/wire.js" */
/** @import { DeviceKey } from "./device_key.js" */

import { post, Refusal } from "./http.js";
import { deviceKey, forgetDeviceKey, signed } from "./device_key.js";
import { inTurn, keep, keptLike, like } from "./kept.js";

const KEPT = "svc.identity"; // In localStorage: {member, proof, access_token, refresh_token, fresh_until, good_until}.
const KNOWN = "svc.known"; // In localStorage, of somebody who has signed out: {id, nickname, way}.
const TURN = "svc.identity"; // The lock that tabs take to change it.
// Shares of a token's life: it is renewed after the first and used until the second, so that nobody waits for a
// renewal that a dead network holds up.
const [FRESH_SHARE, GOOD_SHARE] = [2 / 3, 14 / 15];
const RETRY_MS = 15_000;
// The deadline of a renewal that somebody waits for. TCP repeats what was lost at intervals that double, so a new request
// is answered sooner when the network is back.
const HURRIED_MS = 5000;

/**
 * @typedef {"local" | "account" | "certificate"} Way
 * @typedef {{way: Way, idToken?: string, certificate?: string}} Proof
 * @typedef {{member: Member, proof: Proof, access_token: string, refresh_token: string, fresh_until: number, good_until: number}} Identity
 * @typedef {"fresh_until" | "good_until"} Until
 * @typedef {Omit<Body<"POST", "/api/auth/join">, "assertion">} Wishes
 * @typedef {Answer<"POST", "/api/auth/refresh"> & {member?: Member | null, proof?: Proof}} Fresh
 */

/** The key of this browser is the member: nobody vouches for it. @type {Proof} */
export const LOCAL = { way: "local" };
/** @type {Identity} */
const NOBODY = { member: /** @type {Member} */ ({}), proof: /** @type {Proof} */ ({}), access_token: "", refresh_token: "", fresh_until: 0, good_until: 0 };
const NAMED = { id: "", nickname: "", roles: [] };

/**
 * A proof is {way: "local"}, {way: "account", idToken} or {way: "certificate", certificate}.
 * Events: "renewed" (detail: a fresh access token, for connections that had the one before).
 */
export class Account extends /** @type {Telling<{renewed: string}>} */ (EventTarget) {
  /** @type {Identity | null} */ #identity = null; #timer = 0;

  constructor() {
    super();
    this.#load();
    this.#plan();
  }

  /** What the server told us of ourselves; null for somebody new. */
  get member() {
    return this.#identity?.member ?? null;
  }

  /** By what we have signed in: "local", "account" or "certificate". */
  get way() {
    return this.#identity?.proof.way ?? "local";
  }

  /** Who signed out in this browser: {id, nickname, way}; null if nobody has. */
  get known() {
    const known = keptLike({ id: "", nickname: "", way: /** @type {Way} */ ("local") }, KNOWN);
    return known.id ? known : null;
  }

  /** Nobody who was here is to be offered any more; keys stay. */
  dropKnown() {
    keep(KNOWN, null);
  }

  /** Become a member, or sign in as the one that the proof already is. Resolves with the server's answer. @param {Wishes} wishes */
  join(wishes, proof = LOCAL) {
    return this.#inTurn(() => this.#signIn(proof, wishes));
  }

  /**
   * A token that is good for a while, and not `refused`, which the server did not take. Rejects with
   * a Refusal that does not pass when the server knows us no more.
   * @param {string | null} [refused]
   */
  async accessToken(refused = null) {
    if (!this.#isGood("good_until", refused)) await this.#renew("good_until", refused);
    return this.#identity?.access_token ?? ""; // We may have signed out meanwhile.
  }

  /** Drop what the server gave us. The key stays: whoever is let in again is the same person. */
  signOut(member = this.member) {
    clearTimeout(this.#timer);
    const { refresh_token: token, proof = LOCAL } = this.#identity ?? {};
    if (token && member) keep(KNOWN, { id: member.id, nickname: member.nickname, way: proof.way });
    this.#identity = null;
    keep(KEPT, null);
    if (token) post("/api/auth/logout", { refresh_token: token }).catch(() => {});
  }

  /** Be nobody; the next to join is somebody else. */
  async forget() {
    this.signOut();
    this.dropKnown();
    await forgetDeviceKey();
  }

  /** @param {Until} until @param {string | null} [refused] */
  async #renew(until, refused) {
    await this.#inTurn(async () => {
      this.#load();
      if (!this.#identity) throw new Refusal({ error: "signed_out" });
      if (this.#isGood(until, refused)) return; // Another tab was faster.
      try {
        const deadlineMs = this.#isGood("good_until", refused) ? undefined : HURRIED_MS;
        const fresh = await post("/api/auth/refresh", { refresh_token: this.#identity.refresh_token }, deadlineMs);
        if (this.#identity) this.#keep(fresh);
      } catch (/** @type {any} */ error) {
        if (error.code !== "refresh_invalid") throw error;
        if (this.#identity) await this.#signIn(this.#identity.proof, {});
      }
    });
    this.#plan();
  }

  /** @param {Proof} proof @param {Wishes} wishes */
  async #signIn(proof, wishes) {
    if (proof.way === "account" && !proof.idToken) {
      throw new Refusal({ error: "sign_in_again" });
    }
    const [challenge, key] = await Promise.all([post("/api/auth/challenge", {}), deviceKey()]);
    const sent = await vouched(proof, key, challenge);
    const answer = await post("/api/auth/join", { ...sent, device_name: deviceName(), ...wishes });
    // An id_token is worth nothing after a while; a certificate may be good for years.
    this.#keep({ ...answer, proof: proof.way === "account" ? { way: "account" } : proof });
    this.dropKnown();
    this.#plan();
    return answer;
  }

  /** @param {Fresh} told */
  #keep({ member = this.member, proof = this.#identity?.proof, access_token, refresh_token, expires_in_ms: life }) {
    const [fresh_until, good_until] = [FRESH_SHARE, GOOD_SHARE].map((share) => Date.now() + life * share);
    this.#identity = /** @type {Identity} */ ({ member, proof, access_token, refresh_token, fresh_until, good_until });
    keep(KEPT, this.#identity);
  }

  #load() {
    const kept = keptLike(NOBODY, KEPT);
    if (!kept.proof.way) kept.proof = LOCAL;
    kept.member = { ...kept.member, ...like(NAMED, kept.member) };
    // What an earlier version kept is no sign-in.
    this.#identity = kept.refresh_token && kept.member.id ? kept : null;
  }

  /** @param {Until} until @param {string | null} [refused] */
  #isGood(until, refused = null) {
    return this.#identity !== null && Date.now() < this.#identity[until] && this.#identity.access_token !== refused;
  }

  /** Renew in the background before the token ends. */
  #plan(delay = this.#identity ? Math.max(0, this.#identity.fresh_until - Date.now()) : null) {
    clearTimeout(this.#timer);
    if (delay === null) return;
    this.#timer = setTimeout(async () => {
      try {
        await this.#renew("fresh_until");
        this.dispatchEvent(new CustomEvent("renewed", { detail: await this.accessToken() }));
      } catch {
        if (this.#identity) this.#plan(RETRY_MS); // The live socket reports what cannot be mended.
      }
    }, delay);
  }

  /** @template T @param {() => Promise<T>} act */
  #inTurn(act) {
    return inTurn(TURN, act);
  }
}

/**
 * What a sign-in sends to say whose key this is: docs/http.md, "Signing in and devices".
 * @param {Proof} proof @param {DeviceKey} key @param {{audience: string, nonce: string}} challenge
 */
async function vouched(proof, key, { audience, nonce }) {
  const { way, idToken, certificate } = proof;
  const token = idToken ?? certificate;
  const sub = way === "local" ? key.thumbprint : claimsOf(token).sub;
  const claims = { aud: audience, nonce, sub, origin: location.origin };
  if (way === "account") return { id_token: token, assertion: await signed(key, claims, { jwk: key.jwk }) };
  const [own, assertion] = await Promise.all([certificate ?? signed(key, { jwk: key.jwk, sub }), signed(key, claims)]);
  return { certificate: own, assertion };
}

/** What a JWT claims, believed by nobody yet; nothing for what is no JWT. @param {string | undefined} token @returns {Record<string, unknown>} */
export function claimsOf(token) {
  try {
    const payload = `${token}`.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    const letters = Uint8Array.from(atob(payload), (letter) => letter.charCodeAt(0));
    return Object(JSON.parse(new TextDecoder().decode(letters)));
  } catch {
    return {};
  }
}

/** What this device is called in the list of one's own; the browser and the system, in a word each. */
function deviceName() {
  const agent = navigator.userAgent;
  const browser = /Firefox|Edg|Chrome|Safari/.exec(agent)?.[0].replace("Edg", "Edge") ?? "Browser";
  const system = /Android|iPhone|iPad|Windows|Mac OS|Linux/.exec(agent)?.[0];
  return system ? `${browser} on ${system}` : browser;
}
