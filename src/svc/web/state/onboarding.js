// The onboarding of a new member in this browser: a greeting, and after the first message one offer of
// notifications and a recovery code.

/** @import { Signal } from "../vendor/signals.js" */

import { keep, kept } from "../transport/browser_storage.js";
import { signal } from "../vendor/signals.js";

const STAGE = "svc.newcomer"; // In localStorage, since the member joined.

/**
 * "greeting", "writing" until the first message, or "offer"; empty once the offer is closed, and null before
 * anybody has joined in this browser.
 * @type {Signal<string | null>}
 */
export const stage = signal(kept(STAGE));

/** @param {"greeting" | "writing" | "offer" | ""} next */
export function enterStage(next) {
  keep(STAGE, next);
  stage.value = next;
}
