// Alerts while the page is open: the badge, sounds, notices and the system's view of a call. Also detects
// idleness.

/** @import { Alert } from "../../state/alerts.js" */

import { tellSystem } from "../../call/media_session.js";
import { wearBadge } from "./badge.js";
import { soundCalls } from "./call_sounds.js";
import { chime } from "./chimes.js";
import { watchTouches } from "./idle.js";
import { closeReadNotices, showNotice } from "./notices.js";

export function startTelling() {
  wearBadge();
  soundCalls();
  tellSystem();
  closeReadNotices();
  watchTouches();
}

/** @param {Alert} alert */
export function tell(alert) {
  if (alert.sound) chime(alert.kind);
  if (alert.notice) showNotice(alert);
}
