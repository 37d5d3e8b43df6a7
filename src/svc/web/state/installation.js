// The installed page: its service worker, and the new version that is waiting to replace it.

/** @import { Signal } from "../vendor/signals.js" */

import { register } from "../transport/service_worker_registration.js";
import { signal } from "../vendor/signals.js";
import { saveAll } from "./drafts.js";
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

const AGAIN_MS = 5000; // A server that has just started with a new version is busy with reconnecting clients.

let watched = false;
let again = 0;

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

/** Load the new version, after saving the drafts. */
export async function update(reload = () => location.reload()) {
  await saveAll();
  const { waiting } = (await register()) ?? {};
  if (!waiting) {
    reload();
    return;
  }
  navigator.serviceWorker.addEventListener("controllerchange", () => reload(), { once: true });
  waiting.postMessage("update");
}

async function watch() {
  const registration = await register();
  if (!registration) return;
  const lookForUpdate = () => registration.update().catch(lookAgain);
  const lookAgain = () => {
    clearTimeout(again);
    again = setTimeout(lookForUpdate, AGAIN_MS);
  };
  lookForUpdate();
  if (watched) return;
  watched = true;
  const look = () => {
    // A page without a worker is getting its first one, which is not an update.
    if (registration.waiting && navigator.serviceWorker.controller) newVersion.value = true;
  };
  look();
  registration.addEventListener("updatefound", () => {
    const worker = registration.installing;
    // The worker is installed, or one of its files failed to load.
    worker?.addEventListener("statechange", () => (worker.state === "redundant" ? lookAgain() : look()), {
      once: true,
    });
  });
  // Another tab has already loaded the new version.
  let before = navigator.serviceWorker.controller;
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    if (before) newVersion.value = true;
    before = navigator.serviceWorker.controller;
  });
}

listen({ onGreeting: () => firstPaint.then(watch), onResumption: watch });
