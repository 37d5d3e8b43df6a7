// Whether the page is in sight, and which message is opened from a notice. How the person is told of what happens is
// fetched behind the first messages.

/** @import { Alert } from "../../state/alerts.js" */
/** @import { Noticed } from "../../types/wire.js" */

import { onAlert } from "../../state/alerts.js";
import { open, openTalk } from "../../state/place.js";
import { connection } from "../../state/server.js";
import { inSight } from "../../state/sight.js";
import { effect } from "../../vendor/signals.js";
import { loadStyle } from "../parts/later.js";

const BEHIND_MS = 500; // So long after the greeting the first messages have the line to themselves.
const MOST_EARLY = 10;

/** What happened before there was anything to tell it with. @type {Alert[]} */
const early = [];
let tellOf = (/** @type {Alert} */ alert) => { if (early.length < MOST_EARLY) early.push(alert); };

export function startAlerts() {
  watchSight();
  onAlert((alert) => tellOf(alert));
  tellLater();
  // A notice was pressed.
  navigator.serviceWorker?.addEventListener("message", ({ data }) => {
    /** @type {Noticed} */
    const { channelId, messageId, talkId } = data?.open ?? {};
    if (talkId) openTalk(talkId);
    else if (channelId) open(channelId, messageId);
  });
}

function tellLater() {
  const stop = effect(() => {
    if (connection.value !== "online") return;
    queueMicrotask(() => stop());
    setTimeout(fetchTelling, BEHIND_MS);
  });
}

/** Without the network it is tried again with the next connection. What else comes later is here then, too. */
function fetchTelling() {
  import("./telling.js").then(({ startTelling, tell }) => {
    startTelling();
    tellOf = tell;
    early.splice(0).forEach(tell);
  }, tellLater);
  loadStyle().catch(() => {});
}

/** A page in a window that lies behind another is visible to the browser, but not to the person. */
function watchSight() {
  const look = () => { inSight.value = document.visibilityState === "visible" && document.hasFocus(); };
  document.addEventListener("visibilitychange", look);
  for (const type of ["focus", "blur", "pageshow", "pagehide"]) addEventListener(type, look);
  look();
}
