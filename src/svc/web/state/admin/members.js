// Fetches filtered pages of members for managers, and performs bulk actions on members. Also sends requests
// about invites, and about applicants who are waiting for approval.

/**
 * @import { Member, Role, Invite } from "../../types/api.js"
 * @import { Body, PathOf } from "../../types/wire.js"
 */

import { hasPermission } from "../channels.js";
import { fetchMembers } from "../people.js";
import { member as own, api } from "../server.js";
import { isOwner, mayGiveRolesTo, ranksBelow } from "./role_rank.js";

const DAY_MS = 86_400_000;
const PAGE = 50;

/**
 * The filter that matches all members. In `joinedDays` and `seenDays`, 7 means within the last week and -7
 * means before that.
 */
export const EVERYBODY = {
  query: "",
  roleId: "",
  joinedDays: 0,
  seenDays: 0,
  kind: "",
  inTimeout: false,
  sort: "-joined",
};

/**
 * Return a filter as a query for the server.
 * @param {typeof EVERYBODY} query
 * @param {number} now
 * @param {string | null} [after]
 */
export function memberQuery(
  { query, roleId, joinedDays, seenDays, kind, inTimeout, sort },
  now,
  after = null,
) {
  const parameters = {
    query: query.trim(),
    role_id: roleId,
    ...within("joined", joinedDays, now),
    ...within("seen", seenDays, now),
    bot: kind && String(kind === "bots"),
    in_timeout: inTimeout && "true",
    sort,
    after,
    limit: String(PAGE),
  };
  return new URLSearchParams(
    /** @type {[string, string][]} */ (Object.entries(parameters).filter(([, value]) => value)),
  );
}

/** @param {"joined" | "seen"} what @param {number} days @param {number} now */
function within(what, days, now) {
  if (!days) return {};
  return { [`${what}_${days > 0 ? "after" : "before"}_ms`]: String(now - Math.abs(days) * DAY_MS) };
}

/**
 * Fetch a page of members: {ids, next, lastSeen}. Also store the members in `members` in people.js.
 * @param {typeof EVERYBODY} query
 * @param {string | null} [after]
 */
export async function findMembers(query, after = null) {
  const {
    members,
    next,
    last_seen: lastSeen = {},
  } = await fetchMembers(memberQuery(query, Date.now(), after));
  return { ids: members.map(({ id }) => id), next, lastSeen };
}

/** @typedef {"give" | "take" | "timeout" | "kick" | "ban"} Act */

/** Return the bulk actions that we may perform on members. */
export const offeredActs = () =>
  /** @type {(Act | false)[]} */ ([
    hasPermission("manage_roles") && "give",
    hasPermission("manage_roles") && "take",
    hasPermission("timeout_members") && "timeout",
    hasPermission("kick_members") && "kick",
    hasPermission("ban_members") && "ban",
  ]).filter((act) => act !== false);

/**
 * Return the message key that explains why an action on a member is not allowed; null if it is allowed.
 * @param {Act} act
 * @param {Member} member
 * @param {Role | null} [role]
 */
export function obstacle(act, member, role = null) {
  if (act !== "give" && act !== "take")
    return ranksBelow(member) ? null : member.id === own.value?.id ? "self" : "rank";
  if (!mayGiveRolesTo(member)) return "rank";
  const has = member.roles.includes(role?.id ?? "");
  if (act === "take") return has ? null : "has-not";
  return has
    ? "has"
    : isOwner() || !role || role.permissions.every((permission) => hasPermission(permission))
      ? null
      : "rank";
}

/**
 * Perform an action on each member in turn. If the server rejects it for one member, continue with the
 * others.
 * @template T
 * @param {T[]} people @param {(member: T) => Promise<unknown>} act @param {(done: number) => boolean}
 *   progressed Returns whether to continue.
 * @returns {Promise<{done: T[], refused: {member: T, error: unknown}[]}>}
 */
export async function applyToEach(people, act, progressed) {
  /** @type {[T[], {member: T, error: unknown}[]]} */
  const [done, refused] = [[], []];
  for (const member of people) {
    try {
      await act(member);
      done.push(member);
    } catch (error) {
      refused.push({ member, error });
    }
    if (!progressed(done.length + refused.length)) break;
  }
  return { done, refused };
}

const invitePath = /** @type {PathOf<"/api/invites">} */ (
  (id, /** @type {any} */ suffix = "") => `/api/invites/${encodeURIComponent(id)}${suffix}`
);

/**
 * Create an invite. Resolves with the invite. `invite` is {max_uses?, lifetime_s?, role_id?, channel_id?,
 * approval?}.
 * @param {Body<"POST", "/api/invites">} invite
 */
export const createInvite = (invite) => api("POST", "/api/invites", invite);
export const invites = async () => (await api("GET", "/api/invites")).invites;
/** @param {string} id */
export const revokeInvite = (id) => api("DELETE", invitePath(id));
/** Fetch the current members who joined with an invite. @param {string} id */
export const cameBy = async (id) => (await api("GET", invitePath(id, "/members"))).members;
/** @param {Pick<Invite, "code">} invite */
export const addressOfInvite = ({ code }) => `${location.origin}/#${new URLSearchParams({ invite: code })}`;

/** Fetch the pending applications. */
export const applications = async () => (await api("GET", "/api/applications?state=pending")).applications;
/** @param {string} id */
export const approve = (id) => api("POST", `/api/applications/${encodeURIComponent(id)}/approve`);
/** @param {string} id @param {string} [reason] */
export const refuse = (id, reason) =>
  api("POST", `/api/applications/${encodeURIComponent(id)}/refuse`, reason ? { reason } : {});
