// Connects to the chat server: keeps our identity and the connection's state, sends requests, and passes the
// server's events to the registered listeners.

/** @import { Member, Pushes, Requests } from "../types/api.js" */
/**
 * @import { Body, Data, Info, Listener, Method, Path, Reply, ResponseBody, Scene } from "../types/wire.js"
 */
/** @import { Proof, JoinDetails } from "../transport/account.js" */
/** @import { Asking } from "../transport/live.js" */
/** @import { Signal } from "../vendor/signals.js" */

import { Account } from "../transport/account.js";
import { Backoff, pause } from "../transport/backoff.js";
import { available } from "../transport/device_key.js";
import { request, Refusal } from "../transport/http.js";
import { Live } from "../transport/live.js";
import { batch, signal } from "../vendor/signals.js";

const SPREAD_MS = 10_000;

/**
 * The state of the connection: "none" (not signed in), "connecting", "online", "offline" (retrying) or
 * "crowded" (not retrying).
 * @type {Signal<"none" | "connecting" | "online" | "offline" | "crowded">}
 */
export const connection = signal("none");
/**
 * The signed-in member, as described by the server; null if nobody is signed in.
 * @type {Signal<Member | null>}
 */
export const member = signal(null);
/** The server's public description; null until loaded. @type {Signal<Info | null>} */
export const info = signal(null);
/** Whether the request for the server's description has failed. The request is retried. */
export const unheard = signal(false);
/** The Refusal that signed us out, or null. @type {Signal<Refusal | null>} */
export const rejection = signal(null);

/** @type {Account} */
let account;
/** @type {Live | null} */
let live = null;
/** @type {Record<keyof Listener | "prefetch", ((...values: any[]) => void)[]>} */
const listeners = {
  prefetch: [],
  onGreeting: [],
  onStoredScene: [],
  onResumption: [],
  onPush: [],
  onSignOut: [],
};

/**
 * Register functions to call: `onGreeting` with the full state, `onResumption` when the connection resumes,
 * `onPush` for each push, `onSignOut`, and `onStoredScene` with the stored state to show while the server is
 * unreachable. `prefetch(ask)` may send requests that do not depend on the greeting. Each function is
 * optional.
 * @param {Listener & {prefetch?: (ask: Asking) => void}} listener
 */
export function listen(listener) {
  const parts = /** @type {Record<string, ((...values: any[]) => void) | undefined>} */ (listener);
  for (const [name, all] of Object.entries(listeners))
    if (parts[name]) all.push((...values) => parts[name]?.(...values));
}

/** Return whether this browser can store a key for this page. */
export const isSecure = available;

/** Sign in with the stored identity. Return false if there is none. */
export function comeBack() {
  account = new Account();
  account.addEventListener("renewed", ({ detail }) => live?.reauthenticate(detail));
  if (!account.member) return false;
  member.value = account.member;
  connect();
  return true;
}

/** Fetch the server's description. Retry until the server responds. */
export async function askInfo() {
  const backoff = new Backoff(500, 8000);
  let described = false; // Whether the description has been fetched. A stored description does not count.
  while (!described) {
    try {
      info.value = await request("GET", "/info");
      described = true;
      unheard.value = false;
    } catch {
      unheard.value = true;
      await pause(backoff.next());
    }
  }
}

/**
 * Join, or sign in as the member whom the proof identifies. Settles with the request.
 * @param {JoinDetails} details
 * @param {Proof} [proof]
 */
export async function join(details, proof) {
  const answer = await account.join(details, proof);
  rejection.value = null;
  askInfo(); // The name may have changed since the invite was opened.
  await connect();
  return answer;
}

/** Return the account object, for other ways to sign in and for deleting the key. */
export const ownAccount = () => account;

/**
 * Send a request over the live socket. Resolves with the response; rejects with Refusal or Unreachable.
 * @template {keyof Requests} E
 * @param {E} event @param {Data<E>} data
 * @returns {Promise<Reply<E>>}
 */
export function ask(event, data = /** @type {Data<E>} */ ({})) {
  return /** @type {Live} */ (live).request(event, data);
}

/**
 * Send a request over HTTP with our access token.
 * @template {Method} M @template {Path<M>} P
 * @param {M} method @param {P} path @param {Body<M, P>} [body]
 * @returns {Promise<ResponseBody<M, P>>}
 */
export async function api(method, path, body) {
  // Only the signature above is type-checked. Checking the call below too would double TypeScript's run time.
  const send = /** @type {(method: M, path: P, options: object) => Promise<any>} */ (
    /** @type {unknown} */ (request)
  );
  try {
    return await send(method, path, { token: await account.accessToken(), body });
  } finally {
    live?.catchUp();
  }
}

/**
 * Check that the live socket still works. Call this when a call falls silent, because restarting a call
 * requires the socket.
 */
export const probeConnection = () => live?.probe();

export const accessToken = () => account.accessToken();

/** Sign out and delete the server's tokens. Keep the key. */
export function signOut() {
  account.signOut(member.value ?? undefined);
  leave();
}

/** Delete our identity, including the key. */
export async function forgetIdentity() {
  live?.close();
  await account.forget();
  leave();
}

/**
 * Run a request for data that a greeting omits. After a takeover, the server greets all clients at the same
 * time over their open connections. Little has changed by then, so delay these requests by up to ten seconds
 * to spread them.
 * @param {() => void} fetch
 */
export function unhurried(fetch) {
  if (connection.value === "online") later(fetch);
  else fetch();
}

/** @param {() => void} fetch */
function later(fetch) {
  setTimeout(() => {
    if (connection.value === "online") fetch();
    // Try again later, because the data is still needed after a resumption.
    else if (connection.value !== "none") later(fetch);
  }, Math.random() * SPREAD_MS);
}

/** Open the live socket. Resolves when the server has accepted or rejected us. */
export function connect() {
  live?.close();
  connection.value = "connecting";
  const opened = (live = new Live(
    webSocketUrl("/live"),
    (rejected) => account.accessToken(rejected),
    (request) => dispatch("prefetch", request),
  ));
  opened.addEventListener("push", ({ detail }) => batch(() => dispatch("onPush", detail.event, detail.data)));
  opened.addEventListener("offline", () => {
    connection.value = "offline";
  });
  opened.addEventListener("crowded", () => {
    connection.value = "crowded";
  });
  return /** @type {Promise<void>} */ (
    new Promise((resolve) => {
      const connected =
        (/** @type {keyof typeof listeners} */ name) =>
        (/** @type {{detail: unknown}} */ { detail }) => {
          batch(() => {
            dispatch(name, detail);
            connection.value = "online";
          });
          resolve();
        };
      opened.addEventListener("authenticated", connected("onGreeting"));
      opened.addEventListener("resumed", connected("onResumption"));
      opened.addEventListener("rejected", ({ detail }) => {
        rejection.value = detail instanceof Refusal ? detail : null;
        signOut();
        resolve();
      });
    })
  );
}

listen({
  onGreeting({ member: own, settings, icon_url: iconUrl }) {
    member.value = own;
    // Changes that were made while we were disconnected have not been pushed.
    hearSettings(settings);
    hearIcon(iconUrl);
  },
  onPush(event, data) {
    if (event === "member_updated" && data.id === member.value?.id) member.value = data;
    if (event === "settings_changed") hearSettings(data);
    if (event === "icon_changed") hearIcon(data.icon_url);
  },
});

/** @param {string | null} iconUrl */
function hearIcon(iconUrl) {
  if (info.value) info.value = { ...info.value, iconUrl };
}

/**
 * Apply changed settings to the public description.
 * @param {Pushes["settings_changed"]} changed
 */
function hearSettings(changed) {
  const known = info.value;
  if (known)
    info.value = {
      ...known,
      ...Object.fromEntries(Object.entries(changed).filter(([name]) => name in known)),
    };
}

/** Show this stored state until the server responds. @param {Scene} scene */
export function recall(scene) {
  batch(() => {
    info.value ??= scene.info;
    dispatch("onStoredScene", scene);
  });
}

function leave() {
  live?.close();
  live = null;
  batch(() => {
    dispatch("onSignOut");
    member.value = null;
    connection.value = "none";
  });
  askInfo(); // The number of members may have changed.
}

/** @param {keyof typeof listeners} name @param {unknown[]} values */
function dispatch(name, ...values) {
  for (const listener of listeners[name]) listener(...values);
}

/** @param {string} path */
function webSocketUrl(path) {
  const url = new URL(path, location.href);
  url.protocol = url.protocol.replace("http", "ws");
  url.hash = "";
  return url;
}
