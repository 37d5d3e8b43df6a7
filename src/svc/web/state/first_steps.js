// What an owner does who is alone on their server: name it, give it an icon, add a channel, invite somebody. Gone once
// somebody else is a member, or when the owner wants it gone.

/** @import { Signal } from "../vendor/signals.js" */

import { keep, kept } from "../transport/kept.js";
import { computed, signal } from "../vendor/signals.js";
import { channels } from "./channels.js";
import { members } from "./people.js";
import { api, info, listen, member } from "./server.js";

const HIDDEN = "svc.firstSteps"; // In localStorage, once they are wanted no more.
const FIRST_CHANNELS = 2; // A new server has a channel to write in and one to speak in.

const hidden = signal(kept(HIDDEN) !== null);
/** Are we the only member? null until it was asked. @type {Signal<boolean | null>} */
const alone = signal(null);

/** Which are done, {named, icon, channel}; null where there is nobody to greet. */
export const firstSteps = computed(() => {
  if (hidden.value || !alone.value || members.value.size > 1 || !isOwner()) return null;
  return {
    named: Boolean(info.value?.name),
    icon: Boolean(info.value?.iconUrl),
    channel: channels.value.filter(({ type }) => type !== "category").length > FIRST_CHANNELS,
  };
});

export function hideFirstSteps() {
  keep(HIDDEN, "hidden");
  hidden.value = true;
}

/** @param {string} name */
export const nameServer = (name) => api("PATCH", "/api/settings", { name });

/** Find out whether there is somebody to greet. Without an answer there is not. */
export async function askFirstSteps() {
  if (hidden.value || !isOwner() || alone.value !== null) return;
  const told = await api("GET", "/api/members?limit=2").catch(() => null);
  if (told) alone.value = told.members.length < 2;
}

const isOwner = () => member.value?.roles.includes("owner") ?? false;

listen({
  forget() { alone.value = null; },
});
