// Lists and removes the devices that can sign in to our account, and creates codes for adding devices.

/** @import { Device } from "../types/api.js" */
/** @import { ResponseBody } from "../types/wire.js" */
/** @import { Signal } from "../vendor/signals.js" */

import { signal } from "../vendor/signals.js";
import { api, listen } from "./server.js";

/**
 * The devices, [{id, name, tier, current, added_at_ms, last_seen_at_ms}], most recently used first; null
 * until loaded.
 * @type {Signal<Device[] | null>}
 */
export const devices = signal(null);
/**
 * The code for another device, {code, expires_at_ms}; null if there is none.
 * @type {Signal<ResponseBody<"POST", "/api/me/devices/link"> | null>}
 */
export const linkCode = signal(null);

/**
 * When the recovery code was created; null if there is none, undefined until loaded. With this code, the
 * member can sign in after losing all devices.
 * @type {Signal<number | null | undefined>}
 */
export const keptCodeMadeAt = signal(undefined);

export async function loadDevices() {
  ({ devices: devices.value, kept_code_made_at_ms: keptCodeMadeAt.value } = await api(
    "GET",
    "/api/me/devices",
  ));
}

/** Create a recovery code and revoke the previous one. Return the code, which cannot be retrieved later. */
export async function newKeptCode() {
  const made = await api("POST", "/api/me/devices/recovery");
  keptCodeMadeAt.value = made.made_at_ms;
  return made;
}

/** Sign a device out permanently. Removing this device signs us out. @param {string} id */
export async function unlinkDevice(id) {
  await api("DELETE", `/api/me/devices/${encodeURIComponent(id)}`);
  keptCodeMadeAt.value = null;
  devices.value = devices.value?.filter((device) => device.id !== id) ?? null;
}

/** Create a code for another device and revoke the previous one. */
export async function newLinkCode() {
  linkCode.value = await api("POST", "/api/me/devices/link");
}

/** Return a URL that contains the code and opens the page on another device. @param {string} code */
export const linkAddress = (code) => `${location.origin}/#link=${code}`;

listen({
  onPush(event, data) {
    if (event === "device_linked") {
      linkCode.value = null;
      if (devices.value)
        devices.value = [data.device, ...devices.value.filter(({ id }) => id !== data.device.id)];
    } else if (event === "device_unlinked") {
      keptCodeMadeAt.value = null;
      devices.value = devices.value?.filter(({ id }) => id !== data.device_id) ?? null;
    } else if (event === "recovery_code_made") {
      keptCodeMadeAt.value = data.made_at_ms;
    }
  },
  onSignOut() {
    devices.value = linkCode.value = null;
    keptCodeMadeAt.value = undefined;
  },
});
