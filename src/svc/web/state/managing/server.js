// What the owner settles for the whole server, and its emoji and webhooks.

import { sendFile } from "../../transport/upload.js";
import { accessToken, api } from "../server.js";

export const settings = () => api("GET", "/api/settings");
/** Resolves with all of them. */
export const changeSettings = (changes) => api("PATCH", "/api/settings", changes);
const sent = (path, file, named) => sendFile(path, file, { token: accessToken, named });
export const sendIcon = (file) => sent("/api/icon", file);
export const removeIcon = () => api("DELETE", "/api/icon");

/** A name for an emoji, made of the name of its file: 2 to 30 of a-z, 0-9 and _. */
export function emojiNameOf(fileName) {
  const plain = fileName.replace(/\.[^.]*$/, "").normalize("NFKD").toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_+|_+$/g, "");
  return plain.slice(0, 30).padEnd(2, "_");
}

export const sendEmoji = (file, name) => sent("/api/emoji", file, { name });
export const renameEmoji = (id, name) => api("PATCH", `/api/emoji/${encodeURIComponent(id)}`, { name });
export const deleteEmoji = (id) => api("DELETE", `/api/emoji/${encodeURIComponent(id)}`);

const webhook = (id, rest = "") => `/api/webhooks/${encodeURIComponent(id)}${rest}`;
export const webhooks = async () => (await api("GET", "/api/webhooks")).webhooks;
export const createWebhook = (wish) => api("POST", "/api/webhooks", wish);
export const editWebhook = (id, changes) => api("PATCH", webhook(id), changes);
export const deleteWebhook = (id) => api("DELETE", webhook(id));
export const setWebhookPicture = (id, file) => api("PUT", webhook(id, "/picture"), file);
export const addressOfWebhook = ({ id, token }) => (token ? `${location.origin}/api/webhooks/${id}/${token}` : null);
/** What became of the last posts to it, the newest first. */
export const postsOfWebhook = async (id) => (await api("GET", webhook(id, "/posts"))).posts;
/** What the server says that webhooks take. */
export const webhookDescription = () => api("GET", "/openapi/webhooks.json");
/** Post as a program would: without who we are. Resolves with {message_id, warnings}. */
export const postTo = (address, payload) => api("POST", new URL(address).pathname, payload);
