// Registers the page's service worker, sw.js, and shares the registration with all modules that need it.

const ADDRESS = "/sw.js";
const PATIENCE_MS = 10_000; // A worker that does not start within this time is treated as missing.

/** @type {Promise<ServiceWorkerRegistration | null> | null} */
let registered = null;

/** Resolve with the registration; null if the browser has no service workers or rejects ours. */
export function register() {
  if (!globalThis.navigator?.serviceWorker) return Promise.resolve(null);
  registered ??= navigator.serviceWorker.register(trusted()).catch(() => null);
  return registered;
}

/**
 * Resolve with the registration once its worker is running; null if there is no worker.
 * @returns {Promise<ServiceWorkerRegistration | null>}
 */
export async function activeRegistration() {
  if (!(await register())) return null;
  const late = new Promise((resolve) => {
    setTimeout(resolve, PATIENCE_MS, null);
  });
  return Promise.race([navigator.serviceWorker.ready, late]);
}

/**
 * Store a string for the worker, which does not know the page's language.
 * @param {string} name
 * @param {string} words
 */
export async function configure(name, words) {
  await (await caches.open("words")).put(`/words/${name}`, new Response(words));
}

/** Return the only URL that the page may run a worker from. */
function trusted() {
  const policy = globalThis.trustedTypes?.createPolicy("service-worker", { createScriptURL: () => ADDRESS });
  return policy ? policy.createScriptURL("") : ADDRESS;
}
