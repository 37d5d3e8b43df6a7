// Sends managers' requests to change roles and to assign them to members.

/** @import { Role } from "../../types/api.js" */
/** @import { Body, PathOf } from "../../types/wire.js" */

import { roles } from "../people.js";
import { api } from "../server.js";
import { rolesBelow, ownRank } from "./role_rank.js";

const LOWEST_OF_ALL = 100; // The rank of the role that every member has. New roles rank above it.
const HIGHEST = 999;

const path = /** @type {PathOf<"/api/roles">} */ ((id) => `/api/roles/${encodeURIComponent(id)}`);
const holding = (/** @type {string} */ memberId, /** @type {string} */ roleId) =>
  /** @type {const} */ (`/api/members/${encodeURIComponent(memberId)}/roles/${encodeURIComponent(roleId)}`);

/** @param {string} id @param {Body<"PATCH", `/api/roles/${string}`>} changes */
export const editRole = (id, changes) => api("PATCH", path(id), changes);
/** @param {string} id */
export const deleteRole = (id) => api("DELETE", path(id));
/** @param {string} memberId @param {string} roleId */
export const giveRole = (memberId, roleId) => api("PUT", holding(memberId, roleId));
/** @param {string} memberId @param {string} roleId */
export const takeRole = (memberId, roleId) => api("DELETE", holding(memberId, roleId));

/**
 * Create a role just above the role that all members have. Resolves with the role.
 * @param {Omit<Body<"POST", "/api/roles">, "rank">} role
 */
export function createRole(role) {
  const above = roles.value.map(({ rank }) => rank).filter((rank) => rank > LOWEST_OF_ALL);
  const rank = Math.max(0, Math.min(Math.floor((LOWEST_OF_ALL + Math.min(...above)) / 2), ownRank() - 1));
  return api("POST", "/api/roles", { ...role, rank });
}

/**
 * Return the ranks that change when a role moves to another index among the roles below our rank; null if the
 * index is unchanged or out of range.
 * @param {Pick<Role, "id" | "rank">[]} below
 * @param {string} id
 * @param {number} index
 * @param {number} limit
 * @returns {{[roleId: string]: number} | null}
 */
export function ranksAfter(below, id, index, limit) {
  const at = below.findIndex((role) => role.id === id);
  if (at < 0 || index === at || !below[index]) return null;
  const order = below.toSpliced(at, 1).toSpliced(index, 0, below[at]);
  // Use the existing ranks, but make equal ranks distinct.
  const ranks = below.map(({ rank }) => rank).sort((a, b) => b - a);
  for (let slot = ranks.length - 2; slot >= 0; slot--)
    ranks[slot] = Math.max(ranks[slot], ranks[slot + 1] + 1);
  const slots =
    ranks[0] < limit
      ? ranks
      : ranks.map((_, slot) => Math.floor((limit * (ranks.length - slot)) / (ranks.length + 1)));
  return Object.fromEntries(
    order.flatMap((role, slot) => (role.rank === slots[slot] ? [] : [[role.id, slots[slot]]])),
  );
}

/** Return the index of a role among the roles below our rank; -1 for other roles. @param {string} id */
export const indexOfRole = (id) => rolesBelow().findIndex((role) => role.id === id);

/** Return whether a role may move up (-1) or down (1) by one. @param {string} id @param {1 | -1} by */
export const mayStep = (id, by) => Boolean(rolesBelow()[indexOfRole(id) + by]);

/** Move a role to this index among the roles below our rank. @param {string} id @param {number} index */
export async function moveRoleTo(id, index) {
  const ranks = ranksAfter(rolesBelow(), id, index, Math.min(ownRank(), HIGHEST + 1));
  if (ranks) await api("PUT", "/api/roles/order", { ranks });
}
