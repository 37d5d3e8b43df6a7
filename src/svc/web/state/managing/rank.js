// Who may act on whom: by the highest of one's roles. The server has the last word; this says what to offer.

/** @import { Member } from "../../types/api.js" */
/** @import { Permission } from "../../types/wire.js" */

import { may } from "../channels.js";
import { roles, rolesById } from "../people.js";
import { member } from "../server.js";

/** What any of these permit is offered in the list of members. @type {Permission[]} */
export const MANAGING = ["manage_nicknames", "timeout_members", "kick_members", "ban_members", "manage_roles", "view_reports"];

/** The rank of somebody with these roles. @param {string[]} [roleIds] */
export const rankOf = (roleIds = []) => Math.max(-1, ...roleIds.map((id) => rolesById.value.get(id)?.rank ?? -1));
export const ownRank = () => rankOf(member.value?.roles);
export const isOwner = () => member.value?.roles?.includes("owner") ?? false;
/** May we act on this member? @param {Member | null | undefined} other */
export const ranksBelow = (other) => other && other.id !== member.value?.id && rankOf(other.roles) < ownRank();
/** The roles below us: those that we may change, and give. */
export const rolesBelow = () => roles.value.filter(({ id, rank }) => id !== "owner" && (isOwner() || rank < ownRank()));
/** May we change the roles of this member? @param {Member} other */
export const mayGiveRolesTo = (other) => may("manage_roles") && rolesBelow().length > 0 && (ranksBelow(other) || other.id === member.value?.id);
