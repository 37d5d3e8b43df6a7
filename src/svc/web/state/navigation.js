// Manages the location in the page: the open channel, the panel next to it, and the dialog over it. The
// location is stored, so a reload restores it. A URL can also contain a location (#channel=…&message=…). This
// module opens such URLs, and state/browser_history.js writes them.

/** @import { Signal } from "../vendor/signals.js" */
/**
 * @typedef {{channelId: string, conversationId?: undefined} | {conversationId: string, channelId?:
 *   undefined}} PageLocation
 * @typedef {{name: string, under?: Open | null, [detail: string]: any}} Open
 * @typedef {{channelId?: string, conversationId?: string, messageId?: string, atMs?: number, newest?:
 *   boolean}}
 *   Target
 */

import { storeValue, storedText } from "../transport/browser_storage.js";
import { computed, signal } from "../vendor/signals.js";
import { channelsById, textChannels } from "./channels.js";
import { firstPaint } from "./first_paint.js";
import { listen } from "./server.js";

// In localStorage: the last open channel, or the last open private conversation with PRIVATE before its id.
const STORED_LOCATION = "svc.place";
const PRIVATE = "private ";
// In localStorage: whether the member list is shown next to the channel.
const STORED_MEMBERS = "svc.members";

/**
 * The open channel ({channelId}) or private conversation ({conversationId}), or null if neither is open. An
 * open voice channel shows its call.
 * @type {Signal<PageLocation | null>}
 */
export const currentLocation = signal(null);
/**
 * The panel opened next to the channel, {name, …}; null if there is none.
 * @type {Signal<Open | null>}
 */
export const openedPanel = signal(null);
/** Whether the window is wide enough to show the member list permanently. */
const roomy = signal(false);
const membersStay = signal(false);
/** Whether the messages have been rendered. Until then, the member list is shown only on request. */
const calm = signal(false);
const mayStay = computed(
  () => roomy.value && channelsById.value.get(currentLocation.value?.channelId ?? "")?.type === "text",
);
/**
 * The panel shown next to the channel: the opened panel, or else the member list, if there is room and it has
 * not been closed.
 */
export const sidePanel = computed(
  () => openedPanel.value ?? (calm.value && mayStay.value && membersStay.value ? { name: "members" } : null),
);
/**
 * The dialog over the page: {name, …, under}, or null. `under` is the settings dialog from which it was
 * opened.
 * @type {Signal<Open | null>}
 */
export const dialog = signal(null);
/** Whether the channel list covers the page, on a small screen. */
export const drawer = signal(false);
/**
 * The message to scroll to in the open channel: {messageId}, {atMs} for the first message posted at or after
 * that time, or {newest}. Each request sets a new object.
 * @type {Signal<Target | null>}
 */
export const target = signal(null);

/**
 * `keeps` is set when a list of results closes because the member opens a result. It keeps the list in the
 * history, so that Back returns to it.
 */
export const leaving = { keeps: false };

/**
 * The functions that close the layers over the page, except `dialog`. The last function closes the topmost
 * layer.
 * @type {Signal<(() => void)[]>}
 */
export const layers = signal([]);
/** Whether the page has yet to open the location in its URL. */
let isFresh = true;
/**
 * The result of resolving the URL; null until then. `isMissing` means that the URL names a channel that does
 * not exist or is not visible. `named` is the channel in the URL, if any.
 * @type {Signal<{isMissing: boolean, named: string | null} | null>}
 */
export const arrival = signal(null);

/**
 * Make Back close a layer over the page. Return a function to call once the layer is gone.
 * @param {() => void} close
 */
export function addLayer(close) {
  layers.value = [...layers.value, close];
  return () => {
    layers.value = layers.value.filter((layer) => layer !== close);
  };
}

/**
 * The id of a channel to open once it is in the list, unless another channel is opened first.
 * @type {string | null}
 */
let awaited = null;

/** Open a new channel, which may not be in the list yet. @param {string} channelId */
export function openMade(channelId) {
  if (channelsById.value.has(channelId)) open(channelId);
  else awaited = channelId;
}

/**
 * Open a channel, and go to a message in it if one is given.
 * @param {string} channelId
 * @param {string | null} [messageId]
 */
export function open(channelId, messageId = null) {
  awaited = null;
  if (currentLocation.value?.channelId !== channelId) currentLocation.value = { channelId };
  drawer.value = false;
  if (messageId) target.value = { channelId, messageId };
  storeValue(STORED_LOCATION, channelId);
}

/**
 * Open a private conversation, and go to a message in it if one is given.
 * @param {string} conversationId
 * @param {string | null} [messageId]
 */
export function openConversation(conversationId, messageId = null) {
  awaited = null;
  if (currentLocation.value?.conversationId !== conversationId) currentLocation.value = { conversationId };
  if (messageId) target.value = { conversationId, messageId };
  openedPanel.value = dialog.value = null;
  drawer.value = false;
  storeValue(STORED_LOCATION, PRIVATE + conversationId);
}

/** Leave a private conversation that we can no longer see, and open a channel. */
export function leaveConversation() {
  currentLocation.value = null;
  storeValue(STORED_LOCATION, null);
  settle();
}

/**
 * Open a channel at the first message posted at or after this time.
 * @param {string} channelId @param {number} atMs
 */
export function openAt(channelId, atMs) {
  open(channelId);
  target.value = { channelId, atMs };
}

/** @param {string} name @param {object} [details] */
export const openSidePanel = (name, details = {}) => {
  openedPanel.value = { name, ...details };
};

/** @param {string} name */
export function toggleSidePanel(name) {
  if (sidePanel.value?.name === name) closeSidePanel();
  else if (name === "members" && mayStay.value) stay(true);
  else openSidePanel(name);
}

export function closeSidePanel() {
  if (sidePanel.value?.name === "members" && mayStay.value) stay(false);
  else openedPanel.value = null;
}

/** @param {boolean} on */
function stay(on) {
  openedPanel.value = null;
  membersStay.value = on;
  calm.value = true;
  storeValue(STORED_MEMBERS, String(on));
}

/** Show the member list, if there is room, once the messages have been rendered. */
function makeRoom() {
  if (calm.peek() || !globalThis.matchMedia) return;
  const wide = matchMedia("(min-width: 1300px)");
  const look = () => {
    roomy.value = wide.matches;
  };
  wide.addEventListener("change", look);
  membersStay.value = storedText(STORED_MEMBERS) !== "false";
  look();
  firstPaint.then(() => {
    calm.value = true;
  });
}

/** @param {string} name @param {object} [details] */
export const showDialog = (name, details = {}) => {
  dialog.value = { name, ...details, under: name === "settings" ? null : settingsOf(dialog.value) };
};
/**
 * Close this dialog. If it was opened from the settings, return to them. Do nothing if another dialog has
 * been opened in the meantime.
 * @param {Open} which
 */
export const closeDialog = (which) => {
  if (dialog.value === which) dialog.value = which.under ?? null;
};
export const closeDialogs = () => {
  dialog.value = null;
};

/** @param {Open | null} open @returns {Open | null} */
const settingsOf = (open) => (open?.name === "settings" ? open : (open?.under ?? null));

/**
 * Return the URL of a channel, or of a message in it.
 * @param {string} channelId
 * @param {string} [messageId]
 */
export const addressOf = (channelId, messageId) => `${location.origin}/${hashOf({ channelId }, messageId)}`;

/**
 * Return the URL fragment for a location.
 * @param {PageLocation | null} at
 * @param {string} [messageId]
 */
export function hashOf(at, messageId) {
  const parameters = {
    ...(at?.channelId && { channel: at.channelId }),
    ...(at?.conversationId && { private: at.conversationId }),
    ...(messageId && { message: messageId }),
  };
  return at ? `#${new URLSearchParams(parameters)}` : "";
}

/**
 * Return the location in a URL, {channelId, messageId}, each of which can be null. Return null if the URL is
 * not on this server.
 * @param {URL} url
 */
export function locationIn(url) {
  if (url.origin !== location.origin || url.pathname !== "/") return null;
  const hash = new URLSearchParams(url.hash.slice(1));
  return { channelId: hash.get("channel"), messageId: hash.get("message") };
}

const hashNow = () => new URLSearchParams(location.hash.slice(1));

/** Go to the channel or private conversation in the URL. Return false if there is none that we can see. */
export function followAddress() {
  const hash = hashNow();
  const [channelId, conversationId] = [hash.get("channel"), hash.get("private")];
  if (conversationId) openConversation(conversationId);
  else if (!channelId || !channelsById.value.has(channelId)) return false;
  else open(channelId, hash.get("message"));
  return true;
}

/** Return the id of the channel that will probably be open after the greeting, or null. */
export function expected() {
  const hash = hashNow();
  if (hash.has("message") || hash.has("private")) return null;
  const last = storedText(STORED_LOCATION);
  return hash.get("channel") ?? currentLocation.value?.channelId ?? (last?.startsWith(PRIVATE) ? null : last);
}

/**
 * Open an existing channel: the channel in the URL, the last open channel, or the first channel. `isSure`
 * means that the list of channels comes from the server, not from the offline copy.
 */
function settle(isSure = false) {
  const names = hashNow().has("channel");
  const isFollowed = isFresh && followAddress();
  if (isFresh && (isFollowed || isSure || !names)) {
    isFresh = false;
    arrival.value = { isMissing: names && !isFollowed, named: hashNow().get("channel") };
  }
  if (isFollowed) return;
  const known = (/** @type {string | null | undefined} */ id) =>
    Boolean(id) && channelsById.value.has(id ?? "");
  if (known(currentLocation.value?.channelId) || currentLocation.value?.conversationId) return;
  const last = storedText(STORED_LOCATION);
  if (last?.startsWith(PRIVATE)) {
    currentLocation.value = { conversationId: last.slice(PRIVATE.length) };
    return;
  }
  const channelId = known(last) ? last : textChannels.value[0]?.id;
  currentLocation.value = channelId ? { channelId } : null;
  if (channelId) storeValue(STORED_LOCATION, channelId);
}

listen({
  onGreeting() {
    settle(true);
    makeRoom();
  },
  onStoredScene: () => settle(),
  onPush(event, data) {
    if (event === "channel_created" && data.id === awaited) open(awaited);
    if (event.startsWith("channel_")) settle();
  },
  onSignOut() {
    currentLocation.value = openedPanel.value = dialog.value = target.value = null;
    storeValue(STORED_LOCATION, null);
  },
});
