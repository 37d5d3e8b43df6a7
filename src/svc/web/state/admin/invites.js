// Invites: create, list and revoke them, and decide on applicants who are waiting for approval.

/** @import { Invite } from "../../types/api.js" */
/** @import { Body, PathOf } from "../../types/wire.js" */

import { api } from "../server.js";

const one = /** @type {PathOf<"/api/invites">} */ (
  (id, /** @type {any} */ rest = "") => `/api/invites/${encodeURIComponent(id)}${rest}`
);

/**
 * Create an invite. Resolves with it. `invite` is {max_uses?, lifetime_s?, role_id?, channel_id?, approval?}.
 * @param {Body<"POST", "/api/invites">} invite
 */
export const createInvite = (invite) => api("POST", "/api/invites", invite);
export const invites = async () => (await api("GET", "/api/invites")).invites;
/** @param {string} id */
export const revokeInvite = (id) => api("DELETE", one(id));
/** Fetch the members who joined with an invite and have stayed. @param {string} id */
export const cameBy = async (id) => (await api("GET", one(id, "/members"))).members;
/** @param {Pick<Invite, "code">} invite */
export const addressOfInvite = ({ code }) => `${location.origin}/#${new URLSearchParams({ invite: code })}`;

/** Fetch the pending applications. */
export const applications = async () => (await api("GET", "/api/applications?state=pending")).applications;
/** @param {string} id */
export const approve = (id) => api("POST", `/api/applications/${encodeURIComponent(id)}/approve`);
/** @param {string} id @param {string} [reason] */
export const refuse = (id, reason) =>
  api("POST", `/api/applications/${encodeURIComponent(id)}/refuse`, reason ? { reason } : {});
