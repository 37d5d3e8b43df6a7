// Invites: made, listed, revoked; and those who wait until somebody lets them in.

import { api } from "../server.js";

const one = (id) => `/api/invites/${encodeURIComponent(id)}`;

/** Resolves with the invite. `wish`: {max_uses?, lifetime_s?, role_id?, channel_id?, approval?}. */
export const createInvite = (wish) => api("POST", "/api/invites", wish);
export const invites = async () => (await api("GET", "/api/invites")).invites;
export const revokeInvite = (id) => api("DELETE", one(id));
/** Who came by it and has stayed. */
export const cameBy = async (id) => (await api("GET", `${one(id)}/members`)).members;
export const addressOfInvite = ({ code }) => `${location.origin}/#${new URLSearchParams({ invite: code })}`;

/** Who waits. */
export const applications = async () => (await api("GET", "/api/applications?state=pending")).applications;
export const approve = (id) => api("POST", `/api/applications/${encodeURIComponent(id)}/approve`);
export const refuse = (id, reason) => api("POST", `/api/applications/${encodeURIComponent(id)}/refuse`, reason ? { reason } : {});
