// Keeps content that was shared with the installed page or forwarded from a channel, until the member picks a
// channel for it. Imports the modules that process the content on demand.

/** @import { Signal } from "../vendor/signals.js" */

import { listen } from "./server.js";
import { signal } from "../vendor/signals.js";

const SHARED = "shared"; // The name of the cache that sw.js fills.

/**
 * The content to post, or null. `from` is absent for forwarded messages.
 * @type {Signal<{text: string, files: File[], from?: string} | null>}
 */
export const shared = signal(null);

const dropShared = async () => {
  await globalThis.caches?.delete(SHARED);
};

async function take() {
  const hash = new URLSearchParams(location.hash.slice(1));
  if (!hash.has("shared")) return;
  hash.delete("shared");
  history.replaceState(history.state, "", hash.size ? `#${hash}` : location.pathname);
  const { takeShared } = await import("./share_target.js");
  shared.value = await takeShared(SHARED);
  await dropShared();
}

globalThis.addEventListener?.("hashchange", () => {
  take();
});

listen({
  onGreeting: take,
  onSignOut() {
    shared.value = null;
    dropShared().catch(() => {});
  },
});
