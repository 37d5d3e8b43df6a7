// The installed page, and whether a new version is waiting to replace it.

/** @import { Signal } from "../vendor/signals.js" */

import { signal } from "../vendor/signals.js";
import { firstPaint } from "./first_paint.js";
import { outbox } from "./outbox.js";
import { listen } from "./server.js";
import { anyPending } from "./uploads.js";

/** Whether a new version is waiting to be loaded. */
export const newVersion = signal(false);
/**
 * The browser's install prompt, or null if the browser does not offer one.
 * @type {Signal<BeforeInstallPromptEvent | null>}
 */
export const installing = signal(null);

globalThis.addEventListener?.("beforeinstallprompt", (event) => {
  installing.value = event;
});
globalThis.addEventListener?.("appinstalled", () => {
  installing.value = null;
});

/** Show the install prompt, after a gesture. It can be shown only once. */
export function install() {
  installing.value?.prompt();
  installing.value = null;
}

/** Return whether reloading the page would lose something that is being sent. */
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
