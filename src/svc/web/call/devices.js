// Lists the available microphones, cameras and speakers, and updates the lists as devices are connected and
// disconnected.

/**
 * `facing` is "user", "environment", or "" if the browser does not report it.
 * @typedef {{id: string, label: string, facing: string}} Choosable
 */
/** @import { Signal } from "../vendor/signals.js" */

import { signal } from "../vendor/signals.js";

/**
 * The devices, {audioinput: [{id, label, facing}], videoinput: […], audiooutput: […]}. Their labels are empty
 * until the page has permission to use a device.
 * @type {Signal<{[kind in MediaDeviceKind]: Choosable[]}>}
 */
export const devices = signal({ audioinput: [], videoinput: [], audiooutput: [] });

/** @param {MediaDeviceInfo} device */
const facingOf = (device) =>
  ("getCapabilities" in device &&
    /** @type {InputDeviceInfo} */ (device).getCapabilities().facingMode?.[0]) ||
  "";

/**
 * Return the camera to switch to: preferably one that faces the other way, otherwise the next in the list.
 * Return undefined if there is no other camera.
 * @param {string | undefined} id The current camera.
 */
export function otherCamera(id) {
  const cameras = devices.value.videoinput;
  const at = cameras.findIndex((camera) => camera.id === id);
  const next = cameras[(at + 1) % cameras.length];
  const facing = cameras[at]?.facing;
  const opposite = facing && cameras.find((camera) => camera.facing && camera.facing !== facing);
  return cameras.length > 1 ? opposite || next : undefined;
}

/** Refresh the lists of devices. */
export async function lookForDevices() {
  const available = (await navigator.mediaDevices?.enumerateDevices().catch(() => [])) ?? [];
  const of = (/** @type {MediaDeviceKind} */ kind) =>
    available
      .filter(
        (device) =>
          device.kind === kind &&
          device.deviceId &&
          device.deviceId !== "default" &&
          device.deviceId !== "communications",
      )
      .map((device) => ({ id: device.deviceId, label: device.label, facing: facingOf(device) }));
  devices.value = {
    audioinput: of("audioinput"),
    videoinput: of("videoinput"),
    audiooutput: of("audiooutput"),
  };
}

navigator.mediaDevices?.addEventListener?.("devicechange", lookForDevices);
