// Manages the list of the member's other servers in the server rail, and their unread counts. The list is
// stored only in this browser and never sent to a server. See docs/servers.md.

/** @import { Signal } from "../vendor/signals.js" */

import { storeValue, storedValue } from "../transport/browser_storage.js";
import { fetchCounts } from "../transport/other_servers.js";
import { computed, effect, signal } from "../vendor/signals.js";
import { api, listen, member } from "./server.js";
import { elsewhere } from "./unread_counts.js";

/**
 * `token` grants access only to the counts; it can be "". `name` and `picture` never change after a server is
 * added, so the server cannot impersonate another one later.
 * @typedef {{origin: string, token: string, name: string, picture: string}} OtherServer
 * @typedef {{unread: number, mentions: number}} OtherCounts
 * @typedef {{origin: string, token: string, invite: string}} Link
 */

const MAX_SERVERS = 100; // More than anybody is likely to join. Each server costs one request a minute.
const MAX_LINK_LENGTH = 2048; // The maximum length of one link.
const EVERY_MS = 60_000;
const SOON_MS = 2_000;

/** @param {string} id */
const storedAs = (id) => `svc.servers.${id}`; // Each member who uses this browser has a separate list.

/** The other servers, in the member's order. @type {Signal<OtherServer[]>} */
export const servers = signal([]);
/**
 * The counts by origin; null if the server did not respond.
 * @type {Signal<Record<string, OtherCounts | null>>}
 */
export const counts = signal({});
/**
 * The token for reading our counts on this server, or null; undefined until loaded.
 * @type {Signal<string | null | undefined>}
 */
export const ownToken = signal(undefined);

const memberId = computed(() => member.value?.id ?? "");

/**
 * Parse server URLs, invite links and rail links, separated by whitespace. Return null if the text contains
 * anything else.
 * @param {string} text @param {string} own This page's origin, which is omitted from the result.
 * @returns {Link[] | null}
 */
export function linksIn(text, own = location.origin) {
  const words = text.split(/\s+/).filter(Boolean);
  const links = words.map((word) => {
    const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(word) ? word : `https://${word}`;
    const url = word.length <= MAX_LINK_LENGTH ? URL.parse(address) : null;
    if (!url?.hostname || !/^https?:$/.test(url.protocol) || url.username || url.password) return null;
    const hash = new URLSearchParams(url.hash.slice(1));
    return { origin: url.origin, token: hash.get("rail") ?? "", invite: hash.get("invite") ?? "" };
  });
  if (!links.length || links.some((link) => !link)) return null;
  return /** @type {Link[]} */ (links).filter(({ origin }) => origin !== own);
}

/**
 * Return the link that lets another server's page show our counts.
 * @param {string} origin @param {string} token
 */
export const railLink = (origin, token) => (token ? `${origin}/#rail=${token}` : origin);

/** Return the host in ASCII (Punycode), which exposes look-alike letters. @param {string} origin */
export const hostOf = (origin) => URL.parse(origin)?.host ?? origin;

/**
 * Return a server's URL. If an invite is given, the URL opens it.
 * @param {string} origin @param {string} [invite]
 */
export const addressOf = (origin, invite) =>
  `${origin}/${invite ? `#${new URLSearchParams({ invite })}` : ""}`;

/**
 * Add servers, or store new tokens for servers in the list. Fetch their names and icons.
 * @param {Link[]} links
 */
export async function addServers(links) {
  for (const { origin, token } of links) {
    const known = servers.value.find((server) => server.origin === origin);
    const counted = token ? await fetchCounts(origin, token, true) : null;
    const name = counted?.name || known?.name || hostOf(origin);
    const added = {
      origin,
      token: token || (known?.token ?? ""),
      name,
      picture: counted?.picture || (known?.picture ?? ""),
    };
    if (counted) counts.value = { ...counts.value, [origin]: counted };
    put(
      known
        ? servers.value.map((server) => (server.origin === origin ? added : server))
        : [...servers.value, added].slice(0, MAX_SERVERS),
    );
  }
}

/** @param {string} origin */
export function removeServer(origin) {
  put(servers.value.filter((server) => server.origin !== origin));
}

/** Move a server up (-1) or down (1). @param {string} origin @param {-1 | 1} by */
export function moveServer(origin, by) {
  const order = [...servers.value];
  const from = order.findIndex((server) => server.origin === origin);
  const [moved] = order.splice(from, 1);
  order.splice(Math.max(0, from + by), 0, moved);
  put(order);
}

/** @param {OtherServer[]} list */
function put(list) {
  servers.value = list;
  storeValue(storedAs(memberId.peek()), list.length ? { list: JSON.stringify(list) } : null);
}

/** Read the list from storage, because another tab may have changed it. */
function load() {
  const EMPTY = { origin: "", token: "", name: "", picture: "" };
  const id = memberId.value;
  let list = [];
  try {
    list = id ? JSON.parse(storedValue({ list: "[]" }, storedAs(id)).list) : [];
  } catch {
    // Treat a damaged list as empty.
  }
  const isServer = (/** @type {any} */ server) =>
    Object.keys(EMPTY).every((key) => typeof server?.[key] === "string") &&
    linksIn(server.origin, "")?.[0]?.origin === server.origin &&
    (!server.picture || server.picture.startsWith("data:image/png;base64,"));
  servers.value = Array.isArray(list) ? list.filter(isServer).slice(0, MAX_SERVERS) : [];
}
// Load the list now, because a link from another server can be opened before the rail is loaded.
effect(load);

// Load our token on this server. The member copies it to another server's page.

export async function loadOwnToken() {
  ownToken.value = (await api("GET", "/api/me/counts-token")).token;
}

/** Create a token and revoke the previous one. */
export async function renewOwnToken() {
  ownToken.value = (await api("POST", "/api/me/counts-token")).token;
}

export async function revokeOwnToken() {
  await api("DELETE", "/api/me/counts-token");
  ownToken.value = null;
}

/** The timer for each server's next request, by origin. @type {Map<string, ReturnType<typeof setTimeout>>} */
const timers = new Map();

/**
 * Request a server's counts soon, and then about once a minute. The delays are random, because simultaneous
 * requests would allow servers to link a member's accounts.
 * @param {Pick<OtherServer, "origin" | "token">} server
 */
function watch({ origin, token }, delayMs = SOON_MS) {
  const look = async () => {
    const timer = timers.get(origin);
    const counted = await fetchCounts(origin, token, false);
    // The list has changed in the meantime, or the page has been hidden.
    if (timers.get(origin) !== timer) return;
    counts.value = { ...counts.value, [origin]: counted };
    watch({ origin, token }, EVERY_MS);
  };
  timers.set(origin, setTimeout(look, delayMs * (0.5 + Math.random())));
}

/**
 * Start updating the list and the counts. A hidden page sends no requests.
 * @param {Signal<boolean>} isVisible
 */
export function startOtherServers(isVisible) {
  effect(() => {
    const known = servers.value.map(({ origin }) => counts.value[origin]);
    const sum = (/** @type {"unread" | "mentions"} */ name) =>
      known.reduce((total, count) => total + (count?.[name] ?? 0), 0);
    elsewhere.value = { unread: sum("unread"), mentions: sum("mentions") };
  });
  addEventListener("storage", ({ key }) => key === storedAs(memberId.peek()) && load());
  effect(() => {
    for (const timer of timers.values()) clearTimeout(timer);
    timers.clear();
    if (isVisible.value) for (const server of servers.value) if (server.token) watch(server);
  });
}

listen({
  onSignOut() {
    ownToken.value = undefined;
    counts.value = {};
  },
});
