// What is listed in the settings alone, where others change it too: how often it has changed while we are here.

import { signal } from "../../vendor/signals.js";
import { listen } from "../server.js";

/** Pushes that say so themselves; of everything else that is managed, `managed` names the area. @type {{[event: string]: string}} */
const AREA_OF = {
  application_created: "applications", application_decided: "applications", backup_finished: "backups",
  webhook_created: "webhooks", webhook_updated: "webhooks", webhook_deleted: "webhooks",
  // Somebody has come by an invite, or has left with those that they had made.
  member_joined: "invites", member_left: "invites",
};

const counts = signal(/** @type {{[area: string]: number}} */ ({}));
const greetings = signal(0);

/** Another number each time, for `useAnswer` to ask again. @param {string} area */
export const timesChanged = (area) => (counts.value[area] ?? 0) + greetings.value;

listen({
  greet() {
    greetings.value += 1;
  },
  hear(event, data) {
    const area = event === "managed" ? data.area : AREA_OF[event];
    if (area) counts.value = { ...counts.value, [area]: (counts.value[area] ?? 0) + 1 };
  },
});
