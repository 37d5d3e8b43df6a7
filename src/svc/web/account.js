// Who we are to the server: signs in with this browser's key, and keeps an access token fresh.
// All tabs share what is kept here, and only one of them renews it at a time. Shows nothing.

import { post, Refusal } from "./api.js";
import { deviceKey, forgetDeviceKey, signed } from "./device_key.js";

const KEPT = "svc.identity"; // In localStorage: {member, access_token, refresh_token, fresh_until}.
const TURN = "svc.identity"; // The lock that tabs take to change it.
const FRESH_SHARE = 2 / 3; // Of a token's life; the rest is for slow networks and sleeping tabs.
const RETRY_MS = 15_000;

/** Events: "renewed" (detail: a fresh access token, for connections that had the one before). */
export class Account extends EventTarget {
  #identity = null; #timer = 0;

  constructor() {
    super();
    this.#load();
    this.#plan();
  }

  /** What the server told us of ourselves; null for somebody new. */
  get member() {
    return this.#identity?.member ?? null;
  }

  /** Become a member, or the one that this browser's key already is. */
  async join(nickname, invite) {
    await this.#inTurn(() => this.#signIn({ nickname, ...(invite && { invite_code: invite }) }));
  }

  /**
   * A token that is good for a while, and not `refused`, which the server did not take. Rejects with
   * a Refusal that does not pass when the server knows us no more.
   */
  async accessToken(refused = null) {
    if (!this.#isFresh(refused)) await this.#renew(refused);
    return this.#identity.access_token;
  }

  /** Drop what the server gave us. The key stays: whoever is let in again is the same person. */
  signOut() {
    clearTimeout(this.#timer);
    const { refresh_token: token } = this.#identity ?? {};
    this.#identity = null;
    localStorage.removeItem(KEPT);
    if (token) post("/api/auth/logout", { refresh_token: token }).catch(() => {});
  }

  /** Be nobody; the next to join is somebody else. */
  async forget() {
    this.signOut();
    await forgetDeviceKey();
  }

  async #renew(refused) {
    await this.#inTurn(async () => {
      this.#load();
      if (!this.#identity) throw new Refusal({ error: "signed_out", message: "You have signed out." });
      if (this.#isFresh(refused)) return; // Another tab was faster.
      try {
        this.#keep(await post("/api/auth/refresh", { refresh_token: this.#identity.refresh_token }));
      } catch (error) {
        if (error.code !== "refresh_invalid") throw error;
        await this.#signIn({});
      }
    });
    this.#plan();
  }

  async #signIn(wishes) {
    const [challenge, key] = await Promise.all([post("/api/auth/challenge", {}), deviceKey()]);
    const sub = key.thumbprint;
    const claims = { aud: challenge.audience, nonce: challenge.nonce, sub, origin: location.origin };
    const [certificate, assertion] = await Promise.all([signed(key, { jwk: key.jwk, sub }), signed(key, claims)]);
    this.#keep(await post("/api/auth/join", { certificate, assertion, device_name: deviceName(), ...wishes }));
    this.#plan();
  }

  #keep({ member = this.member, access_token, refresh_token, expires_in_ms: life }) {
    this.#identity = { member, access_token, refresh_token, fresh_until: Date.now() + life * FRESH_SHARE };
    localStorage.setItem(KEPT, JSON.stringify(this.#identity));
  }

  #load() {
    const kept = JSON.parse(localStorage.getItem(KEPT));
    // What an earlier version kept is no sign-in.
    this.#identity = kept?.refresh_token ? kept : null;
  }

  #isFresh(refused) {
    return this.#identity !== null && Date.now() < this.#identity.fresh_until && this.#identity.access_token !== refused;
  }

  /** Renew in the background before the token ends. */
  #plan(delay = this.#identity ? Math.max(0, this.#identity.fresh_until - Date.now()) : null) {
    clearTimeout(this.#timer);
    if (delay === null) return;
    this.#timer = setTimeout(async () => {
      try {
        this.dispatchEvent(new CustomEvent("renewed", { detail: await this.accessToken() }));
      } catch {
        if (this.#identity) this.#plan(RETRY_MS); // The live socket reports what cannot be mended.
      }
    }, delay);
  }

  #inTurn(act) {
    return navigator.locks.request(TURN, act);
  }
}

/** What this device is called in the list of one's own; the browser and the system, in a word each. */
function deviceName() {
  const agent = navigator.userAgent;
  const browser = /Firefox|Edg|Chrome|Safari/.exec(agent)?.[0].replace("Edg", "Edge") ?? "Browser";
  const system = /Android|iPhone|iPad|Windows|Mac OS|Linux/.exec(agent)?.[0];
  return system ? `${browser} on ${system}` : browser;
}
