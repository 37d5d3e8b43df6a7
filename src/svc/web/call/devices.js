// The available microphones, cameras and loudspeakers, updated as devices come and go.

/** @typedef {{id: string, label: string}} Choosable */
/** @import { Signal } from "../vendor/signals.js" */

import { signal } from "../vendor/signals.js";

/**
 * {audioinput: [{id, label}], videoinput: […], audiooutput: […]}; labels are empty until a device may be
 * used.
 * @type {Signal<{[kind in MediaDeviceKind]: Choosable[]}>}
 */
export const devices = signal({ audioinput: [], videoinput: [], audiooutput: [] });

/** Refresh the lists of devices. */
export async function lookForDevices() {
  const found = (await navigator.mediaDevices?.enumerateDevices().catch(() => [])) ?? [];
  const of = (/** @type {MediaDeviceKind} */ kind) =>
    found
      .filter(
        (each) =>
          each.kind === kind &&
          each.deviceId &&
          each.deviceId !== "default" &&
          each.deviceId !== "communications",
      )
      .map(({ deviceId: id, label }) => ({ id, label }));
  devices.value = {
    audioinput: of("audioinput"),
    videoinput: of("videoinput"),
    audiooutput: of("audiooutput"),
  };
}

navigator.mediaDevices?.addEventListener?.("devicechange", lookForDevices);
