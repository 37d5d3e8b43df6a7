// The service worker of the page: registered once, and asked for by whoever needs it. What it does is in sw.js.

const ADDRESS = "/sw.js";
const PATIENCE_MS = 10_000; // One that does not start in this time is as good as none.

/** @type {Promise<ServiceWorkerRegistration | null> | null} */
let registered = null;

/** Resolves with the registration, or with null where the browser has no service workers, or refuses. */
export function register() {
  if (!globalThis.navigator?.serviceWorker) return Promise.resolve(null);
  registered ??= navigator.serviceWorker.register(trusted()).catch(() => null);
  return registered;
}

/** Resolves with the registration once its worker runs; null where none does. @returns {Promise<ServiceWorkerRegistration | null>} */
export async function running() {
  if (!(await register())) return null;
  const late = new Promise((resolve) => { setTimeout(resolve, PATIENCE_MS, null); });
  return Promise.race([navigator.serviceWorker.ready, late]);
}

/** Have the worker say it in the language of the page, where it can know nothing else. @param {string} name @param {string} words */
export async function teach(name, words) {
  await (await caches.open("words")).put(`/words/${name}`, new Response(words));
}

/** The one address that the page may run a worker from. */
function trusted() {
  const policy = globalThis.trustedTypes?.createPolicy("service-worker", { createScriptURL: () => ADDRESS });
  return policy ? policy.createScriptURL("") : ADDRESS;
}
