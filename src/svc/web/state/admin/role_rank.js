// Compares members' ranks, which determine who may moderate whom. A member's rank is that of their highest
// role. The server enforces ranks. This module only determines which actions to offer.

/** @import { Member } from "../../types/api.js" */
/** @import { Permission } from "../../types/wire.js" */

import { hasPermission } from "../channels.js";
import { roles, rolesById } from "../people.js";
import { member } from "../server.js";

/** The permissions that enable actions in the member list. @type {Permission[]} */
export const MANAGING = [
  "manage_nicknames",
  "timeout_members",
  "kick_members",
  "ban_members",
  "manage_roles",
  "view_reports",
];

/** Return the rank of a member with these roles. @param {string[]} [roleIds] */
export const rankOf = (roleIds = []) =>
  Math.max(-1, ...roleIds.map((id) => rolesById.value.get(id)?.rank ?? -1));
export const ownRank = () => rankOf(member.value?.roles);
export const isOwner = () => member.value?.roles?.includes("owner") ?? false;
/**
 * Return whether this member ranks below us, so that we may moderate them.
 * @param {Member | null | undefined} other
 */
export const ranksBelow = (other) =>
  other && other.id !== member.value?.id && rankOf(other.roles) < ownRank();
/** Return the roles below our rank, which we may change and assign. */
export const rolesBelow = () =>
  roles.value.filter(({ id, rank }) => id !== "owner" && (isOwner() || rank < ownRank()));
/** Return whether we may change this member's roles. @param {Member} other */
export const mayGiveRolesTo = (other) =>
  hasPermission("manage_roles") &&
  rolesBelow().length > 0 &&
  (ranksBelow(other) || other.id === member.value?.id);
