// Manages joining and signing in: the content of the forms, the proof of identity, the problem that prevents
// signing in, and the stages of a new member's onboarding.

/**
 * @import { ResponseBody } from "../types/wire.js"
 * @import { Proof, Way } from "../transport/account.js"
 * @import { Signal } from "../vendor/signals.js"
 */

import { claimsOf, LOCAL } from "../transport/account.js";
import { deviceKey, keepsKey } from "../transport/device_key.js";
import { post, Unreachable } from "../transport/http.js";
import { storedText, SENT_AWAY, storeValue } from "../transport/browser_storage.js";
import { batch, computed, signal } from "../vendor/signals.js";
import { t } from "../words/words.js";
import { channelsById } from "./channels.js";
import { open } from "./navigation.js";
import { notify } from "./notices.js";
import { forgetIdentity, info, join, listen, member, ownAccount, rejection } from "./server.js";

/**
 * @typedef {{name: string, invite: string, code: string, message: string, rules: string}} JoinForm
 * @typedef {"new" | "back" | "code" | "certificate" | "waiting"} Step
 * @typedef {{field: string | null, key?: string, error?: unknown, reason?: string, looked?: boolean}} Problem
 */

/** The content of the forms. `rules` is the version of the rules that was accepted. */
export const joinForm = signal({ name: "", invite: "", code: "", message: "", rules: "" });
/**
 * The current step: "new", "back" (for a member who has signed out here), "code" (from another device or the
 * server's owner), "certificate" or "waiting".
 * @type {Signal<Step>}
 */
export const step = signal("new");
/**
 * The server's description of the invite; null until loaded.
 * @type {Signal<ResponseBody<"POST", "/api/invites/view"> | null>}
 */
export const invitation = signal(null);
/**
 * The current problem: {field, error}, or {field, key} with a message key; null if there is none. `looked`
 * means that the problem was found before the form was sent.
 * @type {Signal<Problem | null>}
 */
export const problem = signal(null);
export const busy = signal(false);
/**
 * The proof of an account or a certificate, kept while more input is needed; null if there is none.
 * @type {Signal<Proof | null>}
 */
export const held = signal(null);
/**
 * The member who last signed out in this browser, {id, nickname, way}, or null.
 * @type {Signal<{id: string, nickname: string, way: Way} | null>}
 */
export const known = signal(null);

/** Whether this browser cannot store the identity, so closing the page loses it. */
export const forgetful = signal(false);

/** Whether a new member needs an invite. Only the server knows whether the local network is exempt. */
export const invited = computed(() => info.value?.joinPolicy !== "open" && !info.value?.lanOpen);

/** @type {Record<string, string>} */
const FIELDS = {
  invalid_nickname: "name",
  profanity_refused: "name",
  name_missing: "name",
  invite_required: "invite",
  invite_invalid: "invite",
  too_many_invite_attempts: "invite",
  rules_not_accepted: "rules",
  code_invalid: "code",
  identity_taken: "code",
  too_many_devices: "code",
};
const DEFAULT_WAIT_MS = 5000;

let another = false; // Whether the provider should require a new login.
let timer = 0;

/** @param {Partial<JoinForm>} changes */
export const updateForm = (changes) => {
  joinForm.value = { ...joinForm.value, ...changes };
};

/** Read the URL and complete a sign-in with the provider. Runs once, before the page is rendered. */
export async function resumeSignIn() {
  known.value = ownAccount().known;
  keepsKey().then((keeps) => {
    forgetful.value = !keeps;
  });
  const brought =
    location.search || storedText(SENT_AWAY, "sessionStorage")
      ? await provider().then(
          ({ comeFromProvider }) => comeFromProvider(),
          () => null,
        )
      : null;
  readAddress();
  addEventListener("hashchange", readAddress);
  // Going back from the provider's site can restore this page with `busy` still set.
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) busy.value = false;
  });
  if (member.value !== null || brought === null) return;
  const carried = /** @type {{wishes: JoinForm, step: Step} | null} */ (brought.carried);
  if (carried) batch(() => ([joinForm.value, step.value] = [carried.wishes, carried.step]));
  if (brought.refused !== undefined)
    problem.value = { field: null, key: "provider", reason: brought.refused };
  else attempt(async () => ({ way: "account", idToken: await brought.exchange() }));
}

/** Load the code for the provider, which only some members need. */
const provider = () =>
  import("../transport/provider.js").catch(() => {
    throw new Unreachable();
  });

/** Read an invite or a code for a new device from the URL: #invite=… or #link=…. */
function readAddress() {
  if (member.value !== null) return;
  const hash = new URLSearchParams(location.hash.slice(1));
  const [invite, code] = [hash.get("invite"), hash.get("link")];
  batch(() => {
    step.value = code ? "code" : known.value ? "back" : "new";
    updateForm({ invite: invite ?? "", code: code ?? "" });
  });
  if (invite) fetchInvitation();
}

/** Fetch the description of the invite. */
export async function fetchInvitation() {
  const { invite } = joinForm.value;
  invitation.value = problem.value = null;
  try {
    const viewed = await post("/api/invites/view", { code: codeOf(invite) });
    if (joinForm.value.invite === invite) invitation.value = viewed;
  } catch (/** @type {any} */ error) {
    // Ignore network failures, because they reveal nothing about the invite. The problem is not shown if no
    // invite is needed.
    if (error.status && joinForm.value.invite === invite)
      problem.value = { field: "invite", error, looked: true };
  }
}

/** Go to another step and keep the content of the forms. @param {Step} name */
export function goTo(name) {
  clearTimeout(timer);
  batch(() => {
    step.value = name;
    problem.value = null;
    busy.value = false;
  });
}

/** Join with this browser's key, or with the stored proof. */
export const enter = () => attempt(async () => held.value ?? LOCAL);

/** Go to the provider. The content of the forms is restored when the member comes back. */
export async function enterByAccount() {
  batch(() => ([busy.value, problem.value] = [true, null]));
  try {
    const { goToProvider } = await provider();
    await goToProvider({ wishes: joinForm.value, step: step.value }, another);
  } catch (error) {
    batch(() => ([busy.value, problem.value] = [false, { field: null, error }]));
  }
}

/** Join with a certificate that an issuer has created for this browser's key. @param {string} certificate */
export async function enterByCertificate(certificate) {
  const text = certificate.trim();
  const { sub, jwk } = /** @type {{sub?: string, jwk?: JsonWebKey}} */ (claimsOf(text));
  if (!sub || !jwk) problem.value = { field: "certificate", key: "certificate-unreadable" };
  else if (jwk.x !== (await deviceKey()).jwk.x)
    problem.value = { field: "certificate", key: "certificate-other-key" };
  else await attempt(async () => ({ way: "certificate", certificate: text }));
}

/** Return this browser's public key, for the issuer of a certificate. */
export const publicKey = async () => JSON.stringify((await deviceKey()).jwk);

/**
 * Forget the previous member, so that somebody else can join. If that member signed in with an account, make
 * the provider require a new login.
 */
export async function switchMember() {
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
    const wanted = step.value === "new" ? joinForm.value.name.trim() : "";
    const isNew = step.value === "new" && stage.value === null;
    const { founder } = invitation.value ?? {};
    const isNamed = /[#&](channel|private)=/.test(location.hash);
    const { channel_id: channelId } = await requestSignIn(proof);
    arrived(isNamed ? null : channelId);
    if (isNew) enterStage(founder ? "writing" : "greeting");
    const given = member.value?.nickname;
    if (wanted && given && given !== wanted) notify(t("name-given", { wanted, given }), "done");
  } catch (error) {
    handleRefusal(error, proof);
  }
}

/**
 * Send the request to join or sign in. A code can come from another device or from the server's owner. The
 * member need not know which.
 * @param {Proof} proof
 */
async function requestSignIn(proof) {
  const { name, invite, code, message, rules } = joinForm.value;
  if (step.value === "back") return join({}, proof);
  if (step.value !== "code") {
    const optional = { invite_code: codeOf(invite), message: message.trim(), rules_accepted: rules };
    return join(
      { nickname: name.trim(), ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value)) },
      proof,
    );
  }
  try {
    return await join({ link_code: codeOf(code) }, proof);
  } catch (/** @type {any} */ error) {
    if (error.code !== "code_invalid") throw error;
    return join({ recovery_code: codeOf(code) }, proof);
  }
}

/** @param {string | null} channelId The invite's channel; null to stay at the location in the URL. */
function arrived(channelId) {
  const hash = new URLSearchParams(location.hash.slice(1));
  hash.delete("invite");
  hash.delete("link");
  // Remove the used invite and code from the URL, so that the URL is safe to share.
  history.replaceState(history.state, "", hash.size ? `#${hash}` : location.pathname);
  if (channelId && channelsById.value.has(channelId)) open(channelId);
  start();
}

/** Reset the forms to their state after signing out. */
export function start() {
  batch(() => {
    known.value = ownAccount().known;
    held.value = invitation.value = problem.value = null;
    joinForm.value = { name: "", invite: "", code: "", message: "", rules: "" };
    goTo(known.value ? "back" : "new");
  });
}

/** @param {any} error @param {Proof | null} proof */
function handleRefusal(error, proof) {
  const nameless = error.code === "invalid_nickname" && !joinForm.value.name.trim();
  batch(() => {
    busy.value = false;
    // Keep a proof from a third party, which can be sent again while it is valid.
    held.value = proof && proof.way !== "local" && error.code !== "proof_invalid" ? proof : null;
    if (error.code === "approval_pending") {
      rejection.value = null;
      step.value = "waiting";
      timer = setTimeout(
        () => attempt(async () => proof ?? LOCAL),
        error.details.retry_after_ms ?? DEFAULT_WAIT_MS,
      );
      return;
    }
    if (step.value === "waiting") step.value = "new";
    if (error.code === "rules_not_accepted") {
      const { rules, rules_version: rulesVersion } = error.details;
      if (info.value) info.value = { ...info.value, rules, rulesVersion };
    }
    if (nameless) {
      // The account does not belong to a current member.
      updateForm({ name: joinForm.value.name || known.value?.nickname || "" });
      step.value = "new";
    }
    problem.value = nameless
      ? { field: "name", key: "name-wanted" }
      : { field: FIELDS[error.code] ?? null, error };
  });
}

/** Return the code in a pasted text, which may be a complete link. @param {string} text */
export function codeOf(text) {
  const [, hash] = text.trim().split("#");
  const parameters = new URLSearchParams(hash ?? "");
  // Remove spaces, because codes are displayed in groups of letters.
  return (parameters.get("invite") ?? parameters.get("link") ?? text).replace(/\s+/gu, "");
}

listen({ onSignOut: start });

const STAGE = "svc.newcomer"; // In localStorage, once a member has joined.

/**
 * The onboarding stage: "greeting", "writing" until the first message is posted, or "offer"; "" once the
 * offer is closed, and null if nobody has joined in this browser.
 * @type {Signal<string | null>}
 */
export const stage = signal(storedText(STAGE));

/** @param {"greeting" | "writing" | "offer" | ""} next */
export function enterStage(next) {
  storeValue(STAGE, next);
  stage.value = next;
}
