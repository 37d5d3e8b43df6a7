// Counts how often each list in the settings has changed since the page was loaded. Other managers can also
// change these lists.

import { signal } from "../../vendor/signals.js";
import { listen } from "../server.js";

/**
 * The area that each event changes. For all other areas, the event `managed` contains the area.
 * @type {{[event: string]: string}}
 */
const AREA_OF = {
  application_created: "applications",
  application_decided: "applications",
  backup_finished: "backups",
  webhook_created: "webhooks",
  webhook_updated: "webhooks",
  webhook_deleted: "webhooks",
  // Joining uses an invite, and leaving deletes the invites that the member created.
  member_joined: "invites",
  member_left: "invites",
};

const counts = signal(/** @type {{[area: string]: number}} */ ({}));
const greetings = signal(0);

/**
 * Return a number that changes whenever the area may have changed, so that `useResponse` repeats its request.
 * @param {string} area
 */
export const timesChanged = (area) => (counts.value[area] ?? 0) + greetings.value;

listen({
  onGreeting() {
    greetings.value += 1;
  },
  onPush(event, data) {
    const area = event === "managed" ? data.area : AREA_OF[event];
    if (area) counts.value = { ...counts.value, [area]: (counts.value[area] ?? 0) + 1 };
  },
});
