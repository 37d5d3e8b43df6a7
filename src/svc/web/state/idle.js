// Whether nobody has touched this page for a while: told to the server, which shows us as idle when all pages say so.

import { effect, signal } from "../vendor/signals.js";
import { ask, connection } from "./server.js";

/** The view of the page says so. */
export const idle = signal(false);

let said = false; // On this connection; a new one knows nothing of it.

effect(() => {
  const now = idle.value;
  if (connection.value !== "online") said = false;
  else if (now !== said) {
    said = now;
    ask("idle", { idle: now }).catch(() => {});
  }
});
