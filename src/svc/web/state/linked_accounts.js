// Links the member's accounts on two servers. Each server's page signs a statement about the other account
// once the member consents there. The two pages exchange the statements in URL fragments, which are never
// sent to a server. Profiles show the links, and members of both servers can verify them. See
// docs/servers.md.

/** @import { Signal } from "../vendor/signals.js" */
/** @import { ResponseBody } from "../types/wire.js" */
/** @import { Statement } from "../transport/account_statements.js" */
/** @import { ConfirmedAccount } from "../transport/other_servers.js" */
/** @typedef {ResponseBody<"GET", `/api/members/${string}/linked-accounts`>["links"][number]} LinkedAccount */

import {
  digestOf,
  LINK,
  makeStatement,
  matches,
  readStatement,
  REQUEST,
} from "../transport/account_statements.js";
import { storeValue, storedValue } from "../transport/browser_storage.js";
import { deviceKey } from "../transport/device_key.js";
import { fetchConfirmation } from "../transport/other_servers.js";
import { signal } from "../vendor/signals.js";
import { servers } from "./other_servers.js";
import { api, listen, member } from "./server.js";

// The maximum age of a message. The other server's page runs in the same browser, so both use the same clock.
const FRESH_MS = 60 * 60_000;
const PARAMETER = "same";
const BETWEEN = "~"; // The separator. It never occurs in a statement and is not escaped in URLs.

/**
 * A message from another server's page. A "request" asks for a statement, an "answer" contains the requested
 * statement, and an "offer" contains both statements, to show the link here as well. The other kinds are
 * reasons for rejecting a message. `origin` is the other server.
 * @typedef {{kind: "request", origin: string, from: Statement}
 *   | {kind: "answer", origin: string, from: Statement}
 *   | {kind: "offer", origin: string, from: Statement, own: Statement}
 *   | {kind: "unknown" | "expired" | "invalid", origin: string}} Received
 * @typedef {{digest: string, made_at_ms: number, origin: string}} Confirmation
 */

/**
 * The links on our own profile; undefined until loaded.
 * @type {Signal<LinkedAccount[] | undefined>}
 */
export const ownLinks = signal(undefined);
/** The confirmations that we have given. @type {Signal<Confirmation[]>} */
export const confirmations = signal([]);

/**
 * Return the localStorage key of a member's confirmations. Each confirmation is stored with the server that
 * it was given to, which our own server does not know.
 * @param {string} id
 */
const storedAs = (id) => `svc.confirmed.${id}`;

const ownId = () => member.peek()?.id ?? "";

/** Return the message in the URL, or "", and remove it from the URL. */
export function takeMessage() {
  const hash = new URLSearchParams(location.hash.slice(1));
  const text = hash.get(PARAMETER);
  if (text === null) return "";
  hash.delete(PARAMETER);
  // Remove the message, so that it does not stay in the history and is not read again after a reload.
  history.replaceState(history.state, "", hash.size ? `#${hash}` : location.pathname);
  return text;
}

/** @param {string} origin @param {string[]} statements */
const addressWith = (origin, ...statements) => `${origin}/#${PARAMETER}=${statements.join(BETWEEN)}`;

/**
 * Parse and check a message from another server's page.
 * @param {string} text
 * @returns {Promise<Received>}
 */
export async function read(text) {
  const [from, other, ...more] = await Promise.all(text.split(BETWEEN, 3).map(readStatement));
  if (!from || other === null || more.length || from.aud !== location.origin || from.iss === location.origin)
    return { kind: "invalid", origin: "" };
  const { iss: origin, made_at_ms: madeAt } = from;
  // Accept messages only from servers that the member has added to the list, so that links from elsewhere
  // have no effect.
  if (!servers.peek().some((server) => server.origin === origin)) return { kind: "unknown", origin };
  if (Math.abs(Date.now() - madeAt) > FRESH_MS) return { kind: "expired", origin };
  if (from.use === REQUEST) return { kind: other ? "invalid" : "request", origin, from };
  const key = await deviceKey();
  if (from.peer !== ownId() || from.peer_key !== key.thumbprint) return { kind: "invalid", origin };
  if (!other) return { kind: "answer", origin, from };
  const isOurs = other.sub === ownId() && other.key === key.thumbprint && matches(from, other);
  return isOurs ? { kind: "offer", origin, from, own: other } : { kind: "invalid", origin };
}

/**
 * Return a URL that opens another server's page and asks it for a statement.
 * @param {string} origin
 */
export async function requestAddress(origin) {
  const claims = { use: REQUEST, iss: location.origin, sub: ownId(), aud: origin, made_at_ms: Date.now() };
  return addressWith(origin, await makeStatement(await deviceKey(), claims));
}

/**
 * Sign a statement that the account in another server's statement is also ours.
 * @param {Statement} about
 */
async function signAbout({ iss, sub, key: peerKey }) {
  const key = await deviceKey();
  return makeStatement(key, {
    use: LINK,
    iss: location.origin,
    sub: ownId(),
    aud: iss,
    made_at_ms: Date.now(),
    peer: sub,
    peer_key: peerKey,
  });
}

/**
 * Allow members of both servers to verify our statement. Our own server receives only the digest of the
 * statement.
 * @param {string} statement @param {string} origin
 */
async function confirm(statement, origin) {
  const digest = await digestOf(statement);
  await api("PUT", `/api/me/account-confirmations/${digest}`, {});
  const known = storedValue({ list: "{}" }, storedAs(ownId())).list;
  storeValue(storedAs(ownId()), { list: JSON.stringify({ ...parsed(known), [digest]: origin }) });
}

/** @param {string} text @returns {Record<string, unknown>} */
function parsed(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {}; // Treat a damaged list as empty.
  }
}

/**
 * Answer a request. Return the URL that takes our statement back to the other page.
 * @param {Statement} request
 */
export async function answer(request) {
  const statement = await signAbout(request);
  await confirm(statement, request.iss);
  return addressWith(request.iss, statement);
}

/**
 * Show the other account on our profile. Return our own statement.
 * @param {Statement} other @param {string} [own] Our statement, if it has already been signed.
 */
export async function publish(other, own) {
  const statement = own ?? (await signAbout(other));
  await api("POST", "/api/me/linked-accounts", { own: statement, other: other.text });
  return statement;
}

/**
 * Offer to show the link on the other account's profile as well. Return the URL that takes the offer to the
 * other server's page.
 * @param {Statement} other @param {string} own
 */
export async function offerAddress(other, own) {
  await confirm(own, other.iss);
  return addressWith(other.iss, own, other.text);
}

export async function loadOwn() {
  const [{ links }, given] = await Promise.all([
    api("GET", `/api/members/${ownId()}/linked-accounts`),
    api("GET", "/api/me/account-confirmations"),
  ]);
  const known = parsed(storedValue({ list: "{}" }, storedAs(ownId())).list);
  ownLinks.value = links;
  confirmations.value = given.confirmations.map((confirmation) => ({
    ...confirmation,
    origin: typeof known[confirmation.digest] === "string" ? `${known[confirmation.digest]}` : "",
  }));
}

/** @param {string} memberId @param {string} linkId */
export async function unlink(memberId, linkId) {
  await api("DELETE", `/api/members/${memberId}/linked-accounts/${linkId}`);
  ownLinks.value = ownLinks.value?.filter(({ id }) => id !== linkId);
}

/** @param {string} digest */
export async function withdraw(digest) {
  await api("DELETE", `/api/me/account-confirmations/${digest}`);
  confirmations.value = confirmations.value.filter((confirmation) => confirmation.digest !== digest);
}

/**
 * Return the links on a member's profile whose two statements are valid and match.
 * @param {string} memberId
 */
export async function linksOf(memberId) {
  const { links } = await api("GET", `/api/members/${memberId}/linked-accounts`);
  const valid = await Promise.all(links.map((link) => pairOf(memberId, link)));
  return links.filter((_, at) => valid[at]);
}

/** @param {string} memberId @param {LinkedAccount} link */
async function pairOf(memberId, { origin, own, other }) {
  const [mine, theirs] = await Promise.all([own, other].map(readStatement));
  const isPair = mine && theirs && mine.sub === memberId && theirs.iss === origin && matches(mine, theirs);
  return isPair ? theirs : null;
}

/**
 * Ask the other server which member made the statement. That server learns that we viewed this link. Return
 * the member's name, "" if the server does not confirm the link, or null if it does not respond.
 * @param {string} memberId @param {LinkedAccount} link
 */
export async function verify(memberId, link) {
  const token = servers.peek().find(({ origin }) => origin === link.origin)?.token ?? "";
  const statement = await pairOf(memberId, link);
  const answered = statement && (await fetchConfirmation(link.origin, token, await digestOf(link.other)));
  if (!statement || !answered) return statement ? null : "";
  const { account } = answered;
  return account?.memberId === statement.sub && account.key === statement.key ? account.nickname : "";
}

listen({
  onSignOut() {
    ownLinks.value = undefined;
    confirmations.value = [];
  },
});
