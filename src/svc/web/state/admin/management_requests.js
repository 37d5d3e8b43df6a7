// Changes the server's settings, emoji and webhooks, and determines whether the server's URL works on other
// computers.

/**
 * @import { ManagedWebhook as Webhook } from "../../types/api.js"
 * @import { Body, Path, PathOf } from "../../types/wire.js"
 */

import { post } from "../../transport/http.js";
import { sendFile } from "../../transport/upload.js";
import { accessToken, api } from "../server.js";

export const settings = () => api("GET", "/api/settings");
/** Change some settings. Resolves with all settings. @param {Body<"PATCH", "/api/settings">} changes */
export const changeSettings = (changes) => api("PATCH", "/api/settings", changes);
/** @param {Path<"POST">} path @param {File} file @param {Record<string, string>} [fields] */
const sent = (path, file, fields) => sendFile(path, file, { token: accessToken, fields });
/** @param {File} file */
export const sendIcon = (file) => sent("/api/icon", file);
export const removeIcon = () => api("DELETE", "/api/icon");

/**
 * Derive an emoji's name from its file name: 2 to 30 characters from a-z, 0-9 and _.
 * @param {string} fileName
 */
export function emojiNameOf(fileName) {
  const plain = fileName
    .replace(/\.[^.]*$/, "")
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
  return plain.slice(0, 30).padEnd(2, "_");
}

/** @param {File} file @param {string} name */
export const sendEmoji = (file, name) => sent("/api/emoji", file, { name });
/** @param {string} id @param {string} name */
export const renameEmoji = (id, name) => api("PATCH", `/api/emoji/${encodeURIComponent(id)}`, { name });
/** @param {string} id */
export const deleteEmoji = (id) => api("DELETE", `/api/emoji/${encodeURIComponent(id)}`);

const webhook = /** @type {PathOf<"/api/webhooks">} */ (
  (id, /** @type {any} */ suffix = "") => `/api/webhooks/${encodeURIComponent(id)}${suffix}`
);
export const webhooks = async () => (await api("GET", "/api/webhooks")).webhooks;
/** @param {Body<"POST", "/api/webhooks">} details */
export const createWebhook = (details) => api("POST", "/api/webhooks", details);
/** @param {string} id @param {Body<"PATCH", `/api/webhooks/${string}`>} changes */
export const editWebhook = (id, changes) => api("PATCH", webhook(id), changes);
/** @param {string} id */
export const deleteWebhook = (id) => api("DELETE", webhook(id));
/** @param {string} id @param {Blob} file */
export const setWebhookPicture = (id, file) => api("PUT", webhook(id, "/picture"), file);
/** @param {Pick<Webhook, "id" | "token">} webhook */
export const addressOfWebhook = ({ id, token }) =>
  token ? `${location.origin}/api/webhooks/${id}/${token}` : null;
/** Fetch the results of the latest posts to a webhook, newest first. @param {string} id */
export const postsOfWebhook = async (id) => (await api("GET", webhook(id, "/posts"))).posts;
/** Fetch the server's OpenAPI description of webhook payloads. */
export const webhookDescription = () => api("GET", "/openapi/webhooks.json");
/**
 * Post to a webhook without our identity, as a program would. Resolves with {message_id, warnings}.
 * @param {string} address
 * @param {Body<"POST", `/api/webhooks/${string}/${string}`>} payload
 */
export const postTo = (address, payload) =>
  post(/** @type {`/api/webhooks/${string}/${string}`} */ (new URL(address).pathname), payload);

const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const NEARBY_ADDRESS = /^(10|192\.168|172\.(1[6-9]|2\d|3[01])|169\.254)\.|^\[(f[cd]|fe[89ab])/;
const NEARBY_NAME = /\.(local|lan|home|internal)$|^[^.:]+$/;

/**
 * Return what limits the use of the server's URL: "only-here" (works only on this computer), "no-tls"
 * (browsers restrict the page on other computers), "nearby" (works only in the local network) or null.
 * @param {Pick<Location, "protocol" | "hostname">} address
 */
export function problemOf({ protocol, hostname }) {
  if (LOOPBACK.test(hostname)) return "only-here";
  if (protocol !== "https:") return "no-tls";
  return NEARBY_ADDRESS.test(hostname) || NEARBY_NAME.test(hostname) ? "nearby" : null;
}
