// Starts the features that are not needed to show the first messages: the badge, sounds, notifications, the
// system's controls for calls, idle detection, tooltips, swipe gestures and the server rail.

/** @import { Alert } from "../../state/alerts.js" */

import { callState } from "../../call/current_call.js";
import { controlMediaSession } from "../../call/media_session.js";
import { idle } from "../../state/page_activity.js";
import { showBadge } from "./badge.js";
import { playCallSounds } from "./call_sounds.js";
import { chime } from "./chimes.js";
import { startSwipes } from "../channels/swipe.js";
import { startKeyboardSpace } from "../parts/keyboard_space.js";
import { startTooltips } from "../parts/tooltips.js";
import { startRail } from "../servers/rail.js";
import { closeReadNotices, showNotice } from "./system_notifications.js";

export function startDeferred() {
  showBadge();
  playCallSounds();
  controlMediaSession();
  closeReadNotices();
  detectIdleness();
  startTooltips();
  startSwipes();
  startKeyboardSpace();
  startRail();
}

/** @param {Alert} alert */
export function present(alert) {
  if (alert.sound) chime(alert.kind);
  if (alert.notice) showNotice(alert);
}

const AFTER_MS = 10 * 60_000;
const TOUCHES = ["keydown", "pointerdown", "pointermove", "wheel", "touchmove"];

export function detectIdleness(afterMs = AFTER_MS, now = () => performance.now()) {
  let last = now();
  const wait = (/** @type {number} */ ms) => setTimeout(look, ms);
  const look = () => {
    if (callState.peek() !== "none") last = now();
    const leftMs = last + afterMs - now();
    if (leftMs > 0) wait(leftMs);
    else idle.value = true;
  };
  const touched = () => {
    last = now();
    if (!idle.peek()) return;
    idle.value = false;
    wait(afterMs);
  };
  for (const touch of TOUCHES) addEventListener(touch, touched, { capture: true, passive: true });
  wait(afterMs);
}
