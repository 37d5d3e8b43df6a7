// What managers do to roles, and to whom they give them.

import { roles } from "../people.js";
import { api } from "../server.js";
import { rolesBelow, ownRank } from "./rank.js";

const LOWEST_OF_ALL = 100; // The rank of the role that members have: a new one stands above it.
const HIGHEST = 999;

const path = (id) => `/api/roles/${encodeURIComponent(id)}`;
const holding = (memberId, roleId) => `/api/members/${encodeURIComponent(memberId)}/roles/${encodeURIComponent(roleId)}`;

export const editRole = (id, changes) => api("PATCH", path(id), changes);
export const deleteRole = (id) => api("DELETE", path(id));
export const giveRole = (memberId, roleId) => api("PUT", holding(memberId, roleId));
export const takeRole = (memberId, roleId) => api("DELETE", holding(memberId, roleId));

/** Make a role just above that of all members. Resolves with it. */
export function createRole(wish) {
  const above = roles.value.map(({ rank }) => rank).filter((rank) => rank > LOWEST_OF_ALL);
  const rank = Math.max(0, Math.min(Math.floor((LOWEST_OF_ALL + Math.min(...above)) / 2), ownRank() - 1));
  return api("POST", "/api/roles", { ...wish, rank });
}

/** The ranks that differ when a role goes one place up (-1) or down (1) among those below us; null where it cannot. */
export function ranksAfter(below, id, by, limit) {
  const at = below.findIndex((role) => role.id === id);
  if (!below[at + by]) return null;
  const order = [...below];
  [order[at], order[at + by]] = [order[at + by], order[at]];
  // The ranks that there are, pulled apart where some are the same.
  const ranks = below.map(({ rank }) => rank).sort((one, other) => other - one);
  for (let place = ranks.length - 2; place >= 0; place--) ranks[place] = Math.max(ranks[place], ranks[place + 1] + 1);
  const slots = ranks[0] < limit ? ranks : ranks.map((_, place) => Math.floor((limit * (ranks.length - place)) / (ranks.length + 1)));
  return Object.fromEntries(order.map((role, place) => [role.id, slots[place]]).filter(([roleId, rank]) => below.find((each) => each.id === roleId).rank !== rank));
}

export const mayStep = (id, by) => ranksAfter(rolesBelow(), id, by, Math.min(ownRank(), HIGHEST + 1)) !== null;

/** Move a role one place up (-1) or down (1). */
export async function stepRole(id, by) {
  const ranks = ranksAfter(rolesBelow(), id, by, Math.min(ownRank(), HIGHEST + 1));
  if (ranks) await api("PUT", "/api/roles/order", { ranks });
}
