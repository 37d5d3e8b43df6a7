// Installs the page as an application, and tracks whether a new version is waiting to replace it.

/** @import { Signal } from "../vendor/signals.js" */

import { signal } from "../vendor/signals.js";
import { firstPaint } from "./first_paint.js";
import { outbox } from "./outbox.js";
import { listen } from "./server.js";
import { anyPending } from "./uploads.js";

/** Whether a new version is waiting to be loaded. */
export const newVersion = signal(false);
/**
 * The browser's install prompt; null if the browser does not offer one.
 * @type {Signal<BeforeInstallPromptEvent | null>}
 */
export const installing = signal(null);

globalThis.addEventListener?.("beforeinstallprompt", (event) => {
  installing.value = event;
});
globalThis.addEventListener?.("appinstalled", () => {
  installing.value = null;
});

/** Show the install prompt. This requires a user gesture and works only once. */
export function install() {
  installing.value?.prompt();
  installing.value = null;
}

/** Return whether a reload would interrupt an upload or a message that is being sent. */
export const isBusy = () => anyPending() || outbox.value.some(({ state }) => state === "sending");

const updates = () => import("./version_updates.js");

/** Load the new version, after saving the drafts. */
export const update = async () => (await updates()).update();

const watch = () =>
  updates().then(
    (module) => module.watch(newVersion),
    () => {},
  );

listen({ onGreeting: () => firstPaint.then(watch), onResumption: watch });
