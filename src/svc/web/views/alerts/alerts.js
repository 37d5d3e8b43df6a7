// Tracks whether the page is visible, opens the message when a notification is clicked, and loads the code
// for alerts once the first messages are shown.

/** @import { Alert } from "../../state/alerts.js" */
/** @import { NotificationTarget } from "../../types/wire.js" */

import { onAlert } from "../../state/alerts.js";
import { firstPaint } from "../../state/first_paint.js";
import { open, openConversation } from "../../state/navigation.js";
import { connection } from "../../state/server.js";
import { pageVisible } from "../../state/page_activity.js";
import { effect } from "../../vendor/signals.js";
import { loadStyle } from "../parts/lazy_component.js";

const MAX_EARLY = 10;

/** Alerts that arrived before the code for presenting them was loaded. @type {Alert[]} */
const early = [];
let showAlert = (/** @type {Alert} */ alert) => {
  if (early.length < MAX_EARLY) early.push(alert);
};

export function startAlerts() {
  watchVisibility();
  onAlert((alert) => showAlert(alert));
  loadLater();
  // The service worker sends this message when a notification is clicked.
  navigator.serviceWorker?.addEventListener("message", ({ data }) => {
    /** @type {NotificationTarget} */
    const { channelId, messageId, conversationId } = data?.open ?? {};
    if (conversationId) openConversation(conversationId);
    else if (channelId) open(channelId, messageId);
  });
}

function loadLater() {
  const stop = effect(() => {
    if (connection.value !== "online") return;
    queueMicrotask(() => stop());
    firstPaint.then(loadAlerts);
  });
}

/**
 * Load the code for alerts, and the style sheet for later views. If the import fails, retry on the next
 * connection to the server.
 */
function loadAlerts() {
  import("./index.js").then(({ startDeferred: startTelling, present: tell }) => {
    startTelling();
    showAlert = tell;
    early.splice(0).forEach(tell);
  }, loadLater);
  loadStyle().catch(() => {});
}

/**
 * Track whether the member can see the page. Browsers report a window behind another window as visible, so
 * also require the focus.
 */
function watchVisibility() {
  const update = () => {
    pageVisible.value = document.visibilityState === "visible" && document.hasFocus();
  };
  document.addEventListener("visibilitychange", update);
  for (const type of ["focus", "blur", "pageshow", "pagehide"]) addEventListener(type, update);
  update();
}
