// The chat server: who we are to it, whether it can be reached, and how anything is asked of it. What it tells
// goes to those who have said that they listen; this file knows none of them.

/** @import { Member, Pushes, Requests } from "../types/api.js" */
/** @import { Answer, Body, Data, Info, Listener, Method, Path, Reply, Scene } from "../types/wire.js" */
/** @import { Proof, Wishes } from "../transport/account.js" */
/** @import { Asking } from "../transport/live.js" */
/** @import { Signal } from "../vendor/signals.js" */

import { Account } from "../transport/account.js";
import { Backoff, pause } from "../transport/backoff.js";
import { available } from "../transport/device_key.js";
import { request, Refusal } from "../transport/http.js";
import { Live } from "../transport/live.js";
import { batch, signal } from "../vendor/signals.js";

/** "none" (nobody is signed in), "connecting", "online", "offline" (it is tried again) or "crowded" (it is not). @type {Signal<"none" | "connecting" | "online" | "offline" | "crowded">} */
export const connection = signal("none");
/** Our own member, as the server tells it; null for somebody new. @type {Signal<Member | null>} */
export const member = signal(null);
/** What the server says of itself to anyone; null until it is known. @type {Signal<Info | null>} */
export const info = signal(null);
/** Has it not even said that? It is asked again. */
export const unheard = signal(false);
/** Why we were sent away, a Refusal; null otherwise. @type {Signal<Refusal | null>} */
export const rejection = signal(null);

/** @type {Account} */
let account;
/** @type {Live | null} */
let live = null;
/** @type {Record<string, ((...told: any[]) => void)[]>} */
const listeners = { early: [], greet: [], recall: [], resume: [], hear: [], forget: [] };

/**
 * Hear what the server tells: `greet(greeting)` when it tells everything, `resume(present)` when it goes on,
 * `hear(event, data)` for a push, `forget()` when we are nobody here any more, and `recall(scene)` when the server is
 * silent and what is known of before is shown. `early(ask)` may ask what the greeting need not be there for. Each is
 * optional.
 * @param {Listener & {early?: (ask: Asking) => void}} listener
 */
export function listen(listener) {
  const parts = /** @type {Record<string, ((...told: any[]) => void) | undefined>} */ (listener);
  for (const [name, all] of Object.entries(listeners)) if (parts[name]) all.push((...told) => parts[name]?.(...told));
}

/** May a browser hold a key here? */
export const isSecure = available;

/** Sign in again if we were here before; false for somebody new. */
export function comeBack() {
  account = new Account();
  account.addEventListener("renewed", ({ detail }) => live?.reauthenticate(detail));
  if (!account.member) return false;
  member.value = account.member;
  connect();
  return true;
}

/** Ask the server about itself, again and again until it answers. */
export async function askInfo() {
  const backoff = new Backoff(500, 8000);
  let told = false; // What is known of before is no answer.
  while (!told) {
    try {
      info.value = await request("GET", "/info");
      told = true;
      unheard.value = false;
    } catch {
      unheard.value = true;
      await pause(backoff.next());
    }
  }
}

/** Become a member, or the one that the proof already is. Resolves with the answer; rejects as the request does. @param {Wishes} wishes @param {Proof} [proof] */
export async function join(wishes, proof) {
  const answer = await account.join(wishes, proof);
  rejection.value = null;
  await connect();
  return answer;
}

/** What the account knows how to do beside it: signing in by other ways, forgetting its key. */
export const ownAccount = () => account;

/**
 * Resolves with the live socket's reply; rejects with a Refusal, or with Unreachable.
 * @template {keyof Requests} E
 * @param {E} event @param {Data<E>} data
 * @returns {Promise<Reply<E>>}
 */
export function ask(event, data = /** @type {Data<E>} */ ({})) {
  return /** @type {Live} */ (live).request(event, data);
}

/**
 * The same over HTTP, as ourselves.
 * @template {Method} M @template {Path<M>} P
 * @param {M} method @param {P} path @param {Body<M, P>} [body]
 * @returns {Promise<Answer<M, P>>}
 */
export async function api(method, path, body) {
  // Checked by the line above already: to check it again takes TypeScript as long as all the rest.
  const asking = /** @type {(method: M, path: P, options: object) => Promise<any>} */ (/** @type {unknown} */ (request));
  try {
    return await asking(method, path, { token: await account.accessToken(), body });
  } finally {
    live?.catchUp();
  }
}

/** A call has fallen silent: make sure that the live socket still answers, for without it there is no other call. */
export const doubtConnection = () => live?.doubt();

export const accessToken = () => account.accessToken();

/** Drop what the server gave us; the key stays. */
export function signOut() {
  account.signOut(member.value ?? undefined);
  leave();
}

/** Be nobody: the key is gone too. */
export async function forgetIdentity() {
  live?.close();
  await account.forget();
  leave();
}

/** Open the live socket; resolves when the server has said whether it knows us. */
export function connect() {
  live?.close();
  connection.value = "connecting";
  const opened = live = new Live(webSocketUrl("/live"), (refused) => account.accessToken(refused), (asking) => tell("early", asking));
  opened.addEventListener("push", ({ detail }) => batch(() => tell("hear", detail.event, detail.data)));
  opened.addEventListener("offline", () => { connection.value = "offline"; });
  opened.addEventListener("crowded", () => { connection.value = "crowded"; });
  return /** @type {Promise<void>} */ (new Promise((resolve) => {
    const here = (/** @type {string} */ what) => (/** @type {{detail: unknown}} */ { detail }) => {
      batch(() => {
        tell(what, detail);
        connection.value = "online";
      });
      resolve();
    };
    opened.addEventListener("authenticated", here("greet"));
    opened.addEventListener("resumed", here("resume"));
    opened.addEventListener("rejected", ({ detail }) => {
      rejection.value = detail instanceof Refusal ? detail : null;
      signOut();
      resolve();
    });
  }));
}

listen({
  greet({ member: own }) {
    member.value = own;
  },
  hear(event, data) {
    if (event === "member_updated" && data.id === member.value?.id) member.value = data;
    if (event === "settings_changed") hearSettings(data);
    if (event === "icon_changed" && info.value) info.value = { ...info.value, iconUrl: data.icon_url };
  },
});

/** Those that the server says to anybody too; name and description of nothing are empty there. @param {Pushes["settings_changed"]} changed */
function hearSettings(changed) {
  const told = info.value;
  if (told) info.value = { ...told, ...Object.fromEntries(Object.entries(changed).filter(([name]) => name in told)) };
}

/** Show this, which was so before, until the server says more. @param {Scene} scene */
export function recall(scene) {
  batch(() => {
    info.value ??= scene.info;
    tell("recall", scene);
  });
}

function leave() {
  live?.close();
  live = null;
  batch(() => {
    tell("forget");
    member.value = null;
    connection.value = "none";
  });
  askInfo(); // How many are members may be another number by now.
}

/** @param {string} what @param {unknown[]} told */
function tell(what, ...told) {
  for (const listener of listeners[what]) listener(...told);
}

/** @param {string} path */
function webSocketUrl(path) {
  const url = new URL(path, location.href);
  url.protocol = url.protocol.replace("http", "ws");
  url.hash = "";
  return url;
}
