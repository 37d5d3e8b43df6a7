// Tracks the first steps of a new server's owner: name the server, give it an icon, add a channel, and invite
// somebody. The steps disappear once another member joins or the owner hides them.

/** @import { Signal } from "../vendor/signals.js" */

import { storeValue, storedText } from "../transport/browser_storage.js";
import { computed, signal } from "../vendor/signals.js";
import { channels } from "./channels.js";
import { members } from "./people.js";
import { api, info, listen, member } from "./server.js";

const HIDDEN = "svc.firstSteps"; // In localStorage: set once the owner has hidden the steps.
const FIRST_CHANNELS = 2; // A new server has a text channel and a voice channel.

const hidden = signal(storedText(HIDDEN) !== null);
/** Whether we are the only member; null until loaded. @type {Signal<boolean | null>} */
const alone = signal(null);

/** The completed steps, {named, icon, channel}; null if the steps are not shown. */
export const firstSteps = computed(() => {
  if (hidden.value || !alone.value || members.value.size > 1 || !isOwner()) return null;
  return {
    named: Boolean(info.value?.name),
    icon: Boolean(info.value?.iconUrl),
    channel: channels.value.filter(({ type }) => type !== "category").length > FIRST_CHANNELS,
  };
});

export function hideFirstSteps() {
  storeValue(HIDDEN, "hidden");
  hidden.value = true;
}

/** @param {string} name */
export const nameServer = (name) => api("PATCH", "/api/settings", { name });

/** Check whether the owner is the only member. If the request fails, assume that there are others. */
export async function askFirstSteps() {
  if (hidden.value || !isOwner() || alone.value !== null) return;
  const page = await api("GET", "/api/members?limit=2").catch(() => null);
  if (page) alone.value = page.members.length < 2;
}

const isOwner = () => member.value?.roles.includes("owner") ?? false;

listen({
  onSignOut() {
    alone.value = null;
  },
});
