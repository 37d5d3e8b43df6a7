// Sends managers' requests about the server's bots, stored files, backups and health.

/** @import { PathOf } from "../../types/wire.js" */

import { api } from "../server.js";

const bot = /** @type {PathOf<"/api/bots">} */ (
  (id, /** @type {any} */ suffix = "") => `/api/bots/${encodeURIComponent(id)}${suffix}`
);
/** Fetch the bots: [{member, has_token, token_made_by, token_made_at_ms}]. */
export const bots = async () => (await api("GET", "/api/bots")).bots;
/**
 * Create a bot. Resolves with {member, token}. The token cannot be retrieved later.
 * @param {string} nickname
 */
export const createBot = (nickname) => api("POST", "/api/bots", { nickname });
/** @param {string} id */
export const renewToken = async (id) => (await api("POST", bot(id, "/token"))).token;
/** @param {string} id */
export const deleteBot = (id) => api("DELETE", bot(id));

const MAX_HOLDERS = 20;
/**
 * Fetch the storage usage, {bytes, limit_bytes, by_kind, by_member, others_bytes, database_bytes,
 * disk_free_bytes}.
 */
export const storage = () => api("GET", `/api/storage?limit=${MAX_HOLDERS}`);
/**
 * Return whether a limit of `after` days keeps fewer files than `before` days. A limit of 0 keeps all files.
 * @param {number} before
 * @param {number} after
 */
export const keepsLess = (before, after) => after > 0 && (before === 0 || after < before);

const backup = /** @type {PathOf<"/api/backups">} */ (
  (name, /** @type {any} */ suffix = "") => `/api/backups/${encodeURIComponent(name)}${suffix}`
);
/** Fetch the backups: {backups: [{name, bytes, made_at_ms}], making, fault}. */
export const backups = () => api("GET", "/api/backups");
export const makeBackup = () => api("POST", "/api/backups");
/** @param {string} name */
export const deleteBackup = (name) => api("DELETE", backup(name));
/** Fetch a single-use URL for downloading a backup. @param {string} name */
export const addressOfBackup = async (name) => (await api("POST", backup(name, "/link"))).url;

/**
 * Fetch the server's health: {versions, started_at_ms, checks: [{check, verdict, state}], connected,
 * connected_members, in_calls}.
 */
export const health = () => api("GET", "/api/health");
