// Fetches messages that replies refer to if they are outside the loaded window. Pushes update these messages.

/** @import { Message } from "../types/api.js" */
/** @import { Signal } from "../vendor/signals.js" */

import { signal } from "../vendor/signals.js";
import { api, connection, listen } from "./server.js";

const MAX_CACHED = 200;

/** @type {Signal<Map<string, Message | null>>} */
const known = signal(new Map()); // Messages by id; null for a message that was deleted or that we cannot see.
const requested = new Set();

/**
 * Return the message, or null while it is being fetched.
 * @param {string} channelId
 * @param {string} id
 */
export function answered(channelId, id) {
  const cached = known.value.get(id);
  if (cached === undefined && connection.value === "online" && !requested.has(id)) {
    requested.add(id);
    const path = /** @type {const} */ (
      `/api/channels/${encodeURIComponent(channelId)}/messages/${encodeURIComponent(id)}`
    );
    api("GET", path).then(
      (message) => put(id, message),
      (error) => (error.status === 404 ? put(id, null) : requested.delete(id)),
    );
  }
  return cached ?? null;
}

/** @param {string} id @param {Message | null} message */
function put(id, message) {
  const all = [...new Map(known.value).set(id, message)].slice(-MAX_CACHED);
  known.value = new Map(all);
  requested.delete(id);
}

listen({
  onPush(event, data) {
    if (event !== "message_deleted" && event !== "message_edited") return;
    const before = known.peek().get(data.id);
    if (before) put(data.id, event === "message_deleted" ? null : { ...before, ...data });
  },
  onSignOut() {
    known.value = new Map();
    requested.clear();
  },
});
