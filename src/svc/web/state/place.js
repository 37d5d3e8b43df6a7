// Where in the page we are: which channel is open, what stands beside it, which dialog lies over it. Kept so that
// whoever comes back lands where they were; the address may name a place too (#channel=…&message=…).

import { keep, kept } from "../transport/kept.js";
import { signal } from "../vendor/signals.js";
import { channelsById, textChannels } from "./channels.js";
import { listen } from "./server.js";

const KEPT = "svc.place"; // In localStorage: the channel that was open last.

/** {channelId} of the channel that is open, or null until we know one. For a voice channel it is its call. */
export const place = signal(null);
/** What stands beside the channel: {name, …}, or null. */
export const aside = signal(null);
/** What lies over the page: {name, …, under}, or null; `under` are the settings that it was opened from. */
export const dialog = signal(null);
/** On a small screen: whether the list of channels covers the rest. */
export const drawer = signal(false);
/** Where to go in the open channel, {messageId}, or {atMs} for the first message since then; a new object each time. */
export const target = signal(null);

/** Open a channel, and go to a message in it if one is named. */
export function open(channelId, messageId = null) {
  if (place.value?.channelId !== channelId) place.value = { channelId };
  drawer.value = false;
  if (messageId) target.value = { channelId, messageId };
  keep(KEPT, channelId);
}

/** Go to what was said in this channel since then. */
export function openAt(channelId, atMs) {
  open(channelId);
  target.value = { channelId, atMs };
}

export const showAside = (name, details = {}) => { aside.value = { name, ...details }; };
export const toggleAside = (name) => { aside.value = aside.value?.name === name ? null : { name }; };
export const closeAside = () => { aside.value = null; };
export const showDialog = (name, details = {}) => { dialog.value = { name, ...details, under: name === "settings" ? null : settingsOf(dialog.value) }; };
/** Back to the settings, where it was opened from them. */
export const closeDialog = () => { dialog.value = dialog.value?.under ?? null; };
export const closeDialogs = () => { dialog.value = null; };

const settingsOf = (open) => (open?.name === "settings" ? open : open?.under ?? null);

/** The address that leads to a message. */
export function addressOf(channelId, messageId) {
  const hash = new URLSearchParams({ channel: channelId, message: messageId });
  return `${location.origin}/#${hash}`;
}

/** Go where the address leads, if it leads anywhere that we see; says whether it did. */
export function followAddress() {
  const hash = new URLSearchParams(location.hash.slice(1));
  const [channelId, messageId] = [hash.get("channel"), hash.get("message")];
  if (!channelId || !channelsById.value.has(channelId)) return false;
  hash.delete("channel");
  hash.delete("message");
  history.replaceState(null, "", hash.size ? `#${hash}` : location.pathname);
  open(channelId, messageId);
  return true;
}

/** Be in a channel that there is: the one of the address, the one that was open last, or the first. */
function settle() {
  if (followAddress()) return;
  const known = (id) => id && channelsById.value.has(id);
  if (known(place.value?.channelId)) return;
  const last = kept(KEPT);
  const channelId = known(last) ? last : textChannels.value[0]?.id;
  place.value = channelId ? { channelId } : null;
}

listen({
  greet: settle,
  recall: settle,
  hear(event) {
    if (event.startsWith("channel_")) settle();
  },
  forget() {
    place.value = aside.value = dialog.value = target.value = null;
    keep(KEPT, null);
  },
});
