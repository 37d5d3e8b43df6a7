// Messages that are answered by one that is shown, and are not among those that are held: asked for when their words are
// wanted, and kept as they are told.

import { signal } from "../vendor/signals.js";
import { api, connection, listen } from "./server.js";

const MOST = 200;

const known = signal(new Map()); // By id; null for one that is gone, or that we may not see.
const asked = new Set();

/** The message, or null until the server has told. */
export function answered(channelId, id) {
  const found = known.value.get(id);
  if (found === undefined && connection.value === "online" && !asked.has(id)) {
    asked.add(id);
    const path = `/api/channels/${encodeURIComponent(channelId)}/messages/${encodeURIComponent(id)}`;
    api("GET", path).then((message) => put(id, message), (error) => (error.status === 404 ? put(id, null) : asked.delete(id)));
  }
  return found ?? null;
}

function put(id, message) {
  const all = [...known.value, [id, message]].slice(-MOST);
  known.value = new Map(all);
  asked.delete(id);
}

listen({
  hear(event, { id, channel_id: _channel, ...changes }) {
    const before = known.peek().get(id);
    if (!before) return;
    if (event === "message_deleted") put(id, null);
    else if (event === "message_edited") put(id, { ...before, ...changes });
  },
  forget() {
    known.value = new Map();
    asked.clear();
  },
});
