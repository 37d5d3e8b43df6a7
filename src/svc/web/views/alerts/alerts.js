// How the person is told while the page is open: whether it is in sight, the badge, sounds, notices, and what the
// system shows of a call.

import { tellSystem } from "../../call/media_session.js";
import { onAlert } from "../../state/alerts.js";
import { open } from "../../state/place.js";
import { inSight } from "../../state/sight.js";
import { wearBadge } from "./badge.js";
import { soundCalls } from "./call_sounds.js";
import { chime } from "./chimes.js";
import { closeReadNotices, showNotice } from "./notices.js";

export function startAlerts() {
  watchSight();
  wearBadge();
  soundCalls();
  tellSystem();
  closeReadNotices();
  onAlert((alert) => {
    if (alert.sound) chime(alert.kind);
    if (alert.notice) showNotice(alert);
  });
  // A notice was pressed.
  navigator.serviceWorker?.addEventListener("message", ({ data }) => {
    if (data?.open?.channelId) open(data.open.channelId, data.open.messageId);
  });
}

/** A page in a window that lies behind another is visible to the browser, but not to the person. */
function watchSight() {
  const look = () => { inSight.value = document.visibilityState === "visible" && document.hasFocus(); };
  document.addEventListener("visibilitychange", look);
  for (const type of ["focus", "blur", "pageshow", "pagehide"]) addEventListener(type, look);
  look();
}
