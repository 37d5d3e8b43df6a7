// The page as it is installed in the browser: its service worker, and the version that waits to take its place.

/** @import { Signal } from "../vendor/signals.js" */

import { register } from "../transport/worker.js";
import { signal } from "../vendor/signals.js";
import { saveAll } from "./drafts.js";
import { outbox } from "./outbox.js";
import { listen } from "./server.js";
import { anyPending } from "./uploads.js";

/** Does a new version wait to be loaded? */
export const newVersion = signal(false);
/** What asks the person whether to install the page, or null where the browser does not offer it. @type {Signal<BeforeInstallPromptEvent | null>} */
export const installing = signal(null);

const AGAIN_MS = 5000; // A server that has just started with a new version is busy with everybody who comes back.

let watched = false;
let again = 0;

globalThis.addEventListener?.("beforeinstallprompt", (event) => { installing.value = event; });
globalThis.addEventListener?.("appinstalled", () => { installing.value = null; });

/** To be pressed: the browser asks the person. It may be asked once. */
export function install() {
  installing.value?.prompt();
  installing.value = null;
}

/** Is something on its way that loading the page again would lose? */
export const isBusy = () => anyPending() || outbox.value.some(({ state }) => state === "sending");

/** Load the new version, once the drafts are kept. */
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
    // The first worker of all takes the place of nothing.
    if (registration.waiting && navigator.serviceWorker.controller) newVersion.value = true;
  };
  look();
  registration.addEventListener("updatefound", () => {
    const worker = registration.installing;
    // It is installed, or one of its files did not come.
    worker?.addEventListener("statechange", () => (worker.state === "redundant" ? lookAgain() : look()), { once: true });
  });
  // Another tab has loaded it already.
  let before = navigator.serviceWorker.controller;
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    if (before) newVersion.value = true;
    before = navigator.serviceWorker.controller;
  });
}

listen({ greet: watch, resume: watch });
