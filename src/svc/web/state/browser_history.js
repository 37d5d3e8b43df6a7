// Manages the browser's history: Back closes the most recently opened view, Forward opens it again, and the
// URL always contains the open channel. state/navigation.js reads URLs. The page imports this module once the
// first channel is open.
//
// Each history entry has a number, which is stored in history.state, and a view, which is stored here. If the
// new view equals the view of an earlier entry for the same channel, go back to that entry, so that a panel's
// close button has the same effect as Back. Otherwise, a change that closes something replaces the current
// entry, and every other change adds an entry.

/** @import { Open, PageLocation } from "./navigation.js" */
/**
 * @typedef {{location: PageLocation | null, panel: Open | null, dialog: Open | null, drawer: boolean, layers:
 *   (() => void)[]}} View
 */

import { storeValue, storedText } from "../transport/browser_storage.js";
import { batch, effect } from "../vendor/signals.js";
import { t } from "../words/words.js";
import { channelsById } from "./channels.js";
import { notify } from "./notices.js";
import {
  openedPanel,
  dialog,
  drawer,
  followAddress,
  hashOf,
  layers,
  leaving,
  open,
  openConversation,
  currentLocation,
  showDialog,
} from "./navigation.js";
import { conversationsById, conversationsKnown } from "./private_conversations.js";
import { member } from "./server.js";

// In sessionStorage: LANGUAGE_PAGE if that page must be opened after the next reload.
const SETTINGS = "svc.settings";
const LANGUAGE_PAGE = "look";
const OURS = ["channel", "message", "private", "invite", "link"];

/**
 * The view of each entry, by number. A reload keeps only the URL, the panel, and whether another view covered
 * the channel.
 * @type {View[]}
 */
const views = [];
let current = history.state?.entry ?? 0;
let isLeaving = false; // history.go is asynchronous, so `current` is wrong until it completes.
let isDue = false;

/** @returns {View} */
const shown = () => ({
  location: currentLocation.value,
  panel: openedPanel.value,
  dialog: dialog.value,
  drawer: drawer.value,
  layers: layers.value,
});

/** @param {PageLocation | null} a @param {PageLocation | null} b */
const sameLocation = (a, b) => a?.channelId === b?.channelId && a?.conversationId === b?.conversationId;

/**
 * Return whether these are the same panel or dialog, even for different messages.
 * @param {Open | null | undefined} a
 * @param {Open | null | undefined} b
 * @returns {boolean}
 */
function sameOpen(a, b) {
  if (a === b || !a || !b) return a === b;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  names.delete("messageId");
  return [...names].every((name) => (name === "under" ? sameOpen(a.under, b.under) : a[name] === b[name]));
}

/** @param {View} a @param {View} b */
function sameView(a, b) {
  return (
    sameLocation(a.location, b.location) &&
    sameOpen(a.panel, b.panel) &&
    sameOpen(a.dialog, b.dialog) &&
    a.drawer === b.drawer &&
    a.layers.length === b.layers.length &&
    a.layers.every((layer, at) => layer === b.layers[at])
  );
}

/** Return whether a channel or conversation can still be opened. @param {PageLocation | null} at */
function exists(at) {
  if (at?.conversationId) return !conversationsKnown.value || conversationsById.value.has(at.conversationId);
  return channelsById.value.has(at?.channelId ?? "");
}

/**
 * Return whether the channel was covered by a view that is not restored after a reload.
 * @param {View} view
 */
const isCovered = ({ dialog: open, drawer: isOpen, layers: over }) => Boolean(open || isOpen || over.length);

/** @param {View} view */
function write(view, adds = false) {
  if (adds) views.length = ++current;
  views[current] = view;
  const hash = new URLSearchParams(hashOf(view.location).slice(1));
  // Keep parameters that other modules use, such as the codec for calls.
  for (const [name, value] of new URLSearchParams(location.hash.slice(1)))
    if (!OURS.includes(name)) hash.append(name, value);
  history[adds ? "pushState" : "replaceState"](
    { entry: current, aside: view.panel, covered: isCovered(view) },
    "",
    hash.size ? `#${hash}` : location.pathname,
  );
}

/** Update the browser's history to match the view. */
function record() {
  if (isLeaving || member.value === null) return;
  const [now, before, { keeps }] = [shown(), views[current], leaving];
  leaving.keeps = false;
  if (!before || !exists(before.location)) write(now);
  else if (sameView(now, before)) views[current] = now;
  else {
    // Look only at consecutive entries for the same channel, because opening a channel again is a step
    // forward.
    for (let at = current; views[at] && sameLocation(views[at].location, now.location) && !keeps; at--) {
      if (!sameView(views[at], now)) continue;
      isLeaving = true;
      history.go(at - current);
      return;
    }
    const isClosed =
      (before.panel && !now.panel) ||
      (before.dialog && !now.dialog) ||
      (before.drawer && !now.drawer) ||
      before.layers.some((layer) => !now.layers.includes(layer));
    write(now, keeps || !isClosed);
  }
}

/**
 * Record the view once all related changes have been rendered, such as a dialog that closes and the channel
 * that it opens. Preact renders in a microtask.
 */
async function recordSoon() {
  if (isDue) return;
  isDue = true;
  for (let turns = 0; turns < 3; turns++) await null;
  isDue = false;
  record();
}

/**
 * Show the view of an entry.
 * @param {View | undefined} view
 * @param {Open | null} panel The panel to open if the view was lost in a reload.
 */
function show(view, panel) {
  const extra = layers.value.slice(view?.layers.length ?? 0);
  batch(() => {
    if (!view) followAddress();
    else if (view.location && exists(view.location) && !sameLocation(view.location, currentLocation.value)) {
      if (view.location.conversationId !== undefined) openConversation(view.location.conversationId);
      else open(view.location.channelId);
    }
    openedPanel.value = view ? view.panel : panel;
    dialog.value = view?.dialog ?? null;
    drawer.value = view?.drawer ?? false;
  });
  for (const close of extra.reverse()) close();
}

/**
 * Skip an entry for a view that a reload has closed: continue in the same direction, or go back from the last
 * entry. Return whether the entry was skipped.
 * @param {any} state
 * @param {1 | -1} by
 */
function skips(state, by) {
  if (!state?.covered || views[state.entry] || (by < 0 && !state.entry)) return false;
  history.go(by > 0 && !views[state.entry + 1] ? -1 : by);
  return true;
}

/** Reopen the language settings after the next reload, because a change of language reloads the page. */
export const keepSettings = () => storeValue(SETTINGS, LANGUAGE_PAGE, "sessionStorage");

/** @param {string} hash */
const namedIn = (hash) => new URLSearchParams(hash.slice(1)).get("channel");

/**
 * Start managing the history. `isMissing` means that the page was opened with the URL of a channel that does
 * not exist or is not visible. `named` is the channel in that URL. If the URL now contains a different
 * channel, the member has already gone back.
 * @param {{isMissing: boolean, named: string | null}} arrived
 */
export function startHistory({ isMissing, named }) {
  if (isMissing) notify(t("channel-not-found"));
  else if (namedIn(location.hash) && namedIn(location.hash) !== named) {
    // The member went back before this module was loaded.
    current = history.state?.entry ?? 0;
    followAddress();
  }
  const panel = history.state?.aside ?? null;
  openedPanel.value ??= panel;
  // A view that covered the channel was closed by the reload, so skip its entry, which would look the same as
  // the previous one.
  isLeaving = skips(history.state, -1);
  let isStarting = isLeaving;
  // A view that the member opened before this module was loaded gets its own entry, so that Back closes it.
  const uncovered = () => ({ ...shown(), dialog: null, drawer: false, layers: [] });
  if (!isLeaving) write({ ...uncovered(), panel });
  effect(() => {
    shown();
    recordSoon();
  });
  addEventListener("popstate", ({ state }) => {
    if (member.value === null) return;
    if (state?.entry === undefined) {
      // The member followed a link within the page, or edited the URL.
      views.length = ++current;
      if (!followAddress() && new URLSearchParams(location.hash.slice(1)).has("channel"))
        notify(t("channel-not-found"));
    } else {
      const by = state.entry < current ? -1 : 1;
      current = state.entry;
      if (skips(state, by)) return;
      if (isStarting && isCovered(shown())) {
        // The member has opened a view since the reload.
        write(uncovered());
      } else if (!isLeaving || !views[current]) show(views[current], state.aside ?? null);
      isLeaving = isStarting = false;
    }
    recordSoon();
  });
  if (storedText(SETTINGS, "sessionStorage") !== LANGUAGE_PAGE) return;
  storeValue(SETTINGS, null, "sessionStorage");
  const reopen = () => showDialog("settings", { page: LANGUAGE_PAGE });
  if (isLeaving) addEventListener("popstate", reopen, { once: true });
  else reopen();
}
