// Keeps the server's custom emoji up to date.

/** @import { Emoji } from "../types/api.js" */
/** @import { Signal } from "../vendor/signals.js" */

import { signal } from "../vendor/signals.js";
import { listen } from "./server.js";

/**
 * The custom emoji by name: {id, name, url, animated, created_by, created_at_ms}. @type {Signal<Map<string,
 * Emoji>>}
 */
export const emoji = signal(new Map());

/** @param {Emoji[]} list */
const byName = (list) => new Map(list.map((entry) => [entry.name, entry]));
/** @param {string} id */
const others = (id) => [...emoji.value.values()].filter((entry) => entry.id !== id);

listen({
  onGreeting(greeting) {
    emoji.value = byName(greeting.emoji);
  },
  onStoredScene(scene) {
    emoji.value = byName(scene.emoji);
  },
  onPush(event, data) {
    if (event === "emoji_created" || event === "emoji_updated")
      emoji.value = byName([...others(data.id), data]);
    if (event === "emoji_deleted") emoji.value = byName(others(data.emoji_id));
  },
  onSignOut() {
    emoji.value = new Map();
  },
});
