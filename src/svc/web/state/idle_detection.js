// Whether nobody has used this page for a while. The server shows us as idle when all of our pages are idle.

import { effect, signal } from "../vendor/signals.js";
import { ask, connection } from "./server.js";

/** Whether the page is idle. The page's view sets this signal. */
export const idle = signal(false);

let reported = false; // Whether this connection has reported that we are idle.

effect(() => {
  const now = idle.value;
  if (connection.value !== "online") reported = false;
  else if (now !== reported) {
    reported = now;
    ask("idle", { idle: now }).catch(() => {});
  }
});
