// The devices that sign in as us: which there are, one less, and a code for another one.

/** @import { Device } from "../types/api.js" */
/** @import { Answer } from "../types/wire.js" */
/** @import { Signal } from "../vendor/signals.js" */

import { signal } from "../vendor/signals.js";
import { api, listen } from "./server.js";

/** [{id, name, tier, current, added_at_ms, last_seen_at_ms}], the one used last first; null until they were asked for. @type {Signal<Device[] | null>} */
export const devices = signal(null);
/** {code, expires_at_ms} of the code that another device may use; null for none. @type {Signal<Answer<"POST", "/api/me/devices/link"> | null>} */
export const linkCode = signal(null);

export async function loadDevices() {
  devices.value = (await api("GET", "/api/me/devices")).devices;
}

/** The device signs in as us no more; ours is signed out with it if it is this one. @param {string} id */
export async function unlinkDevice(id) {
  await api("DELETE", `/api/me/devices/${encodeURIComponent(id)}`);
  devices.value = devices.value?.filter((device) => device.id !== id) ?? null;
}

/** A code for another device; the one before is void. */
export async function newLinkCode() {
  linkCode.value = await api("POST", "/api/me/devices/link");
}

/** The address that opens the page on another device, with the code in it. @param {string} code */
export const linkAddress = (code) => `${location.origin}/#link=${code}`;

listen({
  hear(event, data) {
    if (event === "device_linked") {
      linkCode.value = null;
      if (devices.value) devices.value = [data.device, ...devices.value.filter(({ id }) => id !== data.device.id)];
    } else if (event === "device_unlinked") devices.value = devices.value?.filter(({ id }) => id !== data.device_id) ?? null;
  },
  forget() {
    devices.value = linkCode.value = null;
  },
});
