// The way in: what somebody wishes who is not signed in here, by what they prove who they are, and what stands
// against it. Knows the steps and the words for none of them.

/** @import { Answer } from "../types/wire.js" */
/** @import { Proof, Way } from "../transport/account.js" */
/** @import { Signal } from "../vendor/signals.js" */

import { claimsOf, LOCAL } from "../transport/account.js";
import { deviceKey, keepsKey } from "../transport/device_key.js";
import { post, Unreachable } from "../transport/http.js";
import { kept, SENT_AWAY } from "../transport/kept.js";
import { batch, computed, signal } from "../vendor/signals.js";
import { t } from "../words/words.js";
import { channelsById } from "./channels.js";
import { open } from "./place.js";
import { notify } from "./notices.js";
import { forgetIdentity, info, join, listen, member, ownAccount, rejection } from "./server.js";

/**
 * @typedef {{name: string, invite: string, code: string, message: string, rules: string}} Wished
 * @typedef {"new" | "back" | "code" | "certificate" | "waiting"} Step
 * @typedef {{field: string | null, key?: string, error?: unknown, reason?: string, looked?: boolean}} Problem
 */

/** What is written in the forms; `rules` is the version that was accepted. */
export const wishes = signal({ name: "", invite: "", code: "", message: "", rules: "" });
/** "new", "back" (somebody who signed out here), "code" (of another device, or of the owner), "certificate" or "waiting". @type {Signal<Step>} */
export const step = signal("new");
/** What the server says of the invite, {founder, members, online, approval, expires_at_ms}; null until it has. @type {Signal<Answer<"POST", "/api/invites/view"> | null>} */
export const invitation = signal(null);
/** What stands against it: {field, error} or {field, key}, a key of words; null for nothing. `looked`: nobody has sent it yet. @type {Signal<Problem | null>} */
export const problem = signal(null);
export const busy = signal(false);
/** The proof of an account or a certificate that is in our hands, while more is asked; null for none. @type {Signal<Proof | null>} */
export const held = signal(null);
/** Who was here before, {id, nickname, way}; null for nobody. @type {Signal<{id: string, nickname: string, way: Way} | null>} */
export const known = signal(null);

/** Does this browser keep nothing, so that whoever comes in is gone with the page? */
export const forgetful = signal(false);

/** Must somebody new bring an invite? Where the local network needs none, only the server knows. */
export const invited = computed(() => info.value?.joinPolicy !== "open" && !info.value?.lanOpen);

/** @type {Record<string, string>} */
const FIELDS = {
  invalid_nickname: "name", profanity_refused: "name", name_missing: "name", invite_required: "invite", invite_invalid: "invite", too_many_invite_attempts: "invite",
  rules_not_accepted: "rules", code_invalid: "code", identity_taken: "code", too_many_devices: "code",
};
const USUAL_WAIT_MS = 5000;

let another = false; // At the provider, be asked for the account again.
let timer = 0;

/** @param {Partial<Wished>} changes */
export const wish = (changes) => { wishes.value = { ...wishes.value, ...changes }; };

/** At the start of the page, and before it is drawn: what the address says, and what the person brings from the provider. */
export async function arrive() {
  known.value = ownAccount().known;
  keepsKey().then((keeps) => { forgetful.value = !keeps; });
  const brought = location.search || kept(SENT_AWAY, "sessionStorage") ? await provider().then(({ comeFromProvider }) => comeFromProvider(), () => null) : null;
  readAddress();
  addEventListener("hashchange", readAddress);
  // Whoever goes back from the provider may find the page as they left it.
  addEventListener("pageshow", ({ persisted }) => { if (persisted) busy.value = false; });
  if (member.value !== null || brought === null) return;
  const carried = /** @type {{wishes: Wished, step: Step} | null} */ (brought.carried);
  if (carried) batch(() => ([wishes.value, step.value] = [carried.wishes, carried.step]));
  if (brought.refused !== undefined) problem.value = { field: null, key: "provider", reason: brought.refused };
  else attempt(async () => ({ way: "account", idToken: await brought.exchange() }));
}

/** Fetched by those alone who go there or come from there. */
const provider = () => import("../transport/provider.js").catch(() => { throw new Unreachable(); });

/** An invite or a code for a new device, as a link names it: #invite=… or #link=…. */
function readAddress() {
  if (member.value !== null) return;
  const hash = new URLSearchParams(location.hash.slice(1));
  const [invite, code] = [hash.get("invite"), hash.get("link")];
  batch(() => {
    step.value = code ? "code" : known.value ? "back" : "new";
    wish({ invite: invite ?? "", code: code ?? "" });
  });
  if (invite) look();
}

/** Ask what there is to say of the invite. */
export async function look() {
  const { invite } = wishes.value;
  invitation.value = problem.value = null;
  try {
    const told = await post("/api/invites/view", { code: codeOf(invite) });
    if (wishes.value.invite === invite) invitation.value = told;
  } catch (/** @type {any} */ error) {
    // Whoever needs none is not bothered with it; and what is no answer is none.
    if (error.status && wishes.value.invite === invite) problem.value = { field: "invite", error, looked: true };
  }
}

/** Another way to come in; nothing that was written is lost. @param {Step} name */
export function goTo(name) {
  clearTimeout(timer);
  batch(() => {
    step.value = name;
    problem.value = null;
    busy.value = false;
  });
}

/** Come in by the key of this browser, or by the proof in our hands. */
export const enter = () => attempt(async () => held.value ?? LOCAL);

/** Go to the provider; what is written is there again on return. */
export async function enterByAccount() {
  batch(() => ([busy.value, problem.value] = [true, null]));
  try {
    const { goToProvider } = await provider();
    await goToProvider({ wishes: wishes.value, step: step.value }, another);
  } catch (error) {
    batch(() => ([busy.value, problem.value] = [false, { field: null, error }]));
  }
}

/** Come in with a certificate that an issuer has made for this browser's key. @param {string} certificate */
export async function enterByCertificate(certificate) {
  const text = certificate.trim();
  const { sub, jwk } = /** @type {{sub?: string, jwk?: JsonWebKey}} */ (claimsOf(text));
  if (!sub || !jwk) problem.value = { field: "certificate", key: "certificate-unreadable" };
  else if (jwk.x !== (await deviceKey()).jwk.x) problem.value = { field: "certificate", key: "certificate-other-key" };
  else await attempt(async () => ({ way: "certificate", certificate: text }));
}

/** The public key of this browser, for whoever makes a certificate for it. */
export const publicKey = async () => JSON.stringify((await deviceKey()).jwk);

/** Nobody is offered any more who was here; an account's is asked for again. */
export async function beSomebodyElse() {
  another = known.value?.way === "account";
  if (another) ownAccount().dropKnown();
  else await forgetIdentity();
  batch(() => {
    known.value = held.value = null;
    goTo("new");
  });
}

/** @param {() => Promise<Proof>} prove */
async function attempt(prove) {
  clearTimeout(timer);
  batch(() => ([busy.value, problem.value] = [true, null]));
  let proof = null;
  try {
    proof = await prove();
    const wanted = step.value === "new" ? wishes.value.name.trim() : "";
    const isNamed = /[#&](channel|private)=/.test(location.hash);
    const { channel_id: channelId } = await asked(proof);
    arrived(isNamed ? null : channelId);
    const given = member.value?.nickname;
    if (wanted && given && given !== wanted) notify(t("name-given", { wanted, given }), "done");
  } catch (error) {
    refused(error, proof);
  }
}

/** One code may be a device's or the owner's; the person need not know which. @param {Proof} proof */
async function asked(proof) {
  const { name, invite, code, message, rules } = wishes.value;
  if (step.value === "back") return join({}, proof);
  if (step.value !== "code") {
    const said = { invite_code: codeOf(invite), message: message.trim(), rules_accepted: rules };
    return join({ nickname: name.trim(), ...Object.fromEntries(Object.entries(said).filter(([, value]) => value)) }, proof);
  }
  try {
    return await join({ link_code: codeOf(code) }, proof);
  } catch (/** @type {any} */ error) {
    if (error.code !== "code_invalid") throw error;
    return join({ recovery_code: codeOf(code) }, proof);
  }
}

/** @param {string | null} channelId of the invite, unless the address names another */
function arrived(channelId) {
  const hash = new URLSearchParams(location.hash.slice(1));
  hash.delete("invite");
  hash.delete("link");
  // They have done their work; the address can be shown around again.
  history.replaceState(history.state, "", hash.size ? `#${hash}` : location.pathname);
  if (channelId && channelsById.value.has(channelId)) open(channelId);
  start();
}

/** As somebody finds it who signs out and stays. */
export function start() {
  batch(() => {
    known.value = ownAccount().known;
    held.value = invitation.value = problem.value = null;
    wishes.value = { name: "", invite: "", code: "", message: "", rules: "" };
    goTo(known.value ? "back" : "new");
  });
}

/** @param {any} error @param {Proof | null} proof */
function refused(error, proof) {
  const nameless = error.code === "invalid_nickname" && !wishes.value.name.trim();
  batch(() => {
    busy.value = false;
    // What was proven by others can be sent again while it is good.
    held.value = proof && proof.way !== "local" && error.code !== "proof_invalid" ? proof : null;
    if (error.code === "approval_pending") {
      rejection.value = null;
      step.value = "waiting";
      timer = setTimeout(() => attempt(async () => proof ?? LOCAL), error.details.retry_after_ms ?? USUAL_WAIT_MS);
      return;
    }
    if (step.value === "waiting") step.value = "new";
    if (error.code === "rules_not_accepted") {
      const { rules, rules_version: rulesVersion } = error.details;
      if (info.value) info.value = { ...info.value, rules, rulesVersion };
    }
    if (nameless) {
      // They are no member yet, or not any more.
      wish({ name: wishes.value.name || known.value?.nickname || "" });
      step.value = "new";
    }
    problem.value = nameless ? { field: "name", key: "name-wanted" } : { field: FIELDS[error.code] ?? null, error };
  });
}

/** The code in what was pasted, which may be the whole link. @param {string} text */
export function codeOf(text) {
  const [, hash] = text.trim().split("#");
  const named = new URLSearchParams(hash ?? "");
  // Codes are shown and read out in groups.
  return (named.get("invite") ?? named.get("link") ?? text).replace(/\s+/gu, "");
}

listen({ forget: start });
