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

/** When the code was made that the person keeps for the loss of all devices; null for none, undefined until it is known. @type {Signal<number | null | undefined>} */
export const keptCodeMadeAt = signal(undefined);

export async function loadDevices() {
  ({ devices: devices.value, kept_code_made_at_ms: keptCodeMadeAt.value } = await api("GET", "/api/me/devices"));
}

/** A code to keep; the one before is void. It is told this once. */
export async function newKeptCode() {
  const made = await api("POST", "/api/me/devices/recovery");
  keptCodeMadeAt.value = made.made_at_ms;
  return made;
}

/** The device signs in as us no more; ours is signed out with it if it is this one. @param {string} id */
export async function unlinkDevice(id) {
  await api("DELETE", `/api/me/devices/${encodeURIComponent(id)}`);
  keptCodeMadeAt.value = null;
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
    } else if (event === "device_unlinked") {
      keptCodeMadeAt.value = null;
      devices.value = devices.value?.filter(({ id }) => id !== data.device_id) ?? null;
    } else if (event === "recovery_code_made") {
      keptCodeMadeAt.value = data.made_at_ms;
    }
  },
  forget() {
    devices.value = linkCode.value = null;
    keptCodeMadeAt.value = undefined;
  },
});
