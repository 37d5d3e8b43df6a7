// Detects new versions of the page through its service worker, and loads them.

/** @import { Signal } from "../vendor/signals.js" */

import { register } from "../transport/service_worker_registration.js";
import { saveAll } from "./drafts.js";

// The retry delay. A server that has just started with a new version is busy with reconnecting clients.
const AGAIN_MS = 5000;

let watched = false;
let again = 0;

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

/**
 * Check for a new version now, and watch for a new version that another tab loads. Set `newVersion` when
 * there is one.
 * @param {Signal<boolean>} newVersion
 */
export async function watch(newVersion) {
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
    // If the page has no worker yet, the waiting worker is its first one, not an update.
    if (registration.waiting && navigator.serviceWorker.controller) newVersion.value = true;
  };
  look();
  registration.addEventListener("updatefound", () => {
    const worker = registration.installing;
    // Either the worker is installed, or one of its files failed to load.
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
