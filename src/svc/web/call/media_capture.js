// Opens the microphone, the camera and the screen, and explains failures to the member. Does not publish the
// tracks.

/** @import { CallSettings } from "../state/call_settings.js" */

import { screenConstraints } from "./encodings.js";
import { t } from "../words/words.js";
import { lookForDevices } from "./devices.js";

const UNFILTERED = {
  echoCancellation: false,
  autoGainControl: false,
  noiseSuppression: false,
  channelCount: 2,
};

/**
 * Open the chosen microphone, or another if that one is missing. The settings come from
 * state/call_settings.js.
 * @param {CallSettings} settings
 */
export async function openMicrophone({ microphone, echoCancellation, autoGainControl, noise, music }) {
  const voice = { echoCancellation, autoGainControl, noiseSuppression: noise === "usual" };
  return openDevice(
    (/** @type {MediaTrackConstraints} */ id) => ({ audio: { ...(music ? UNFILTERED : voice), ...id } }),
    microphone,
  );
}

/**
 * Return whether this browser can request background blur. Only an open camera reports whether it supports
 * blur.
 */
export const canBlur = () => Boolean(navigator.mediaDevices?.getSupportedConstraints().backgroundBlur);

/** @param {Pick<CallSettings, "camera"> & Partial<CallSettings>} settings */
export async function openCamera({ camera, blur = false }) {
  const size = {
    width: { ideal: 1280 },
    height: { ideal: 720 },
    frameRate: { ideal: 30 },
    ...(canBlur() && { backgroundBlur: blur }),
  };
  return openDevice((/** @type {MediaTrackConstraints} */ id) => ({ video: { ...size, ...id } }), camera);
}

/**
 * Return whether this is a rear camera, whose video is not mirrored.
 * @param {MediaStreamTrack | null} track
 */
export const facesAway = (track) => track?.getSettings().facingMode === "environment";

/** Open the rear camera if the device has two cameras. */
export const openBackCamera = () =>
  openDevice(
    () => ({ video: { facingMode: "environment", width: { ideal: 1280 }, height: { ideal: 720 } } }),
    "",
  );

/**
 * Ask the member for a screen to share. Resolve with {video, audio, echoes}; `audio` is null if no audio is
 * shared. Audio captured from a window or the system would include the other members' voices, so they would
 * hear themselves, unless the browser excludes this page's audio. `echoes` means that the audio was dropped
 * for this reason.
 * @param {CallSettings} settings
 */
export async function openScreen(settings) {
  const audio = { ...UNFILTERED, restrictOwnAudio: true };
  /** @type {DisplayMediaStreamOptions} */
  const system = mediaDevices().getSupportedConstraints().restrictOwnAudio
    ? { systemAudio: "include", windowAudio: "window" }
    : { systemAudio: "exclude" };
  const stream = await mediaDevices().getDisplayMedia({
    video: screenConstraints(settings),
    audio,
    ...system,
  });
  const [video] = stream.getVideoTracks();
  video.contentHint = hintOf(settings);
  const sound = stream.getAudioTracks()[0] ?? null;
  const echoes =
    sound !== null &&
    ["monitor", "window"].includes(video.getSettings().displaySurface ?? "") &&
    !sound.getSettings().restrictOwnAudio;
  if (echoes) sound.stop();
  return { video, audio: echoes ? null : sound, echoes };
}

/**
 * Apply changed settings to a shared screen.
 * @param {MediaStreamTrack} video
 * @param {CallSettings} settings
 */
export async function reshapeScreen(video, settings) {
  video.contentHint = hintOf(settings);
  await video.applyConstraints(screenConstraints(settings));
}

/** @param {CallSettings} settings */
const hintOf = ({ screen }) => (screen === "motion" ? "motion" : "text");

/**
 * Return a sentence that explains the failure, or "" if the member cancelled. `device` is "microphone",
 * "camera" or "screen".
 * @param {any} error
 * @param {string} device
 */
export function explainDevice(error, device) {
  if (error.name === "NotAllowedError" && device === "screen") return "";
  const known = {
    NotAllowedError: "refused",
    NotFoundError: "none",
    NotReadableError: "busy",
    InsecureContextError: "insecure",
  };
  return t(`device-${known[/** @type {keyof typeof known} */ (error.name)] ?? "failed"}`, {
    device: t(`device-${device}`),
    message: error.message,
  });
}

/** @param {(id: MediaTrackConstraints) => MediaStreamConstraints} constraints @param {string} id */
async function openDevice(constraints, id) {
  const open = (/** @type {string} */ deviceId) =>
    mediaDevices().getUserMedia(constraints(deviceId ? { deviceId: { exact: deviceId } } : {}));
  const missing = (/** @type {Error} */ error) =>
    error.name === "OverconstrainedError" || error.name === "NotFoundError";
  const stream = await open(id).catch((error) => {
    if (id && missing(error)) return open("");
    throw error;
  });
  lookForDevices(); // The browser reveals device names only after a device has been opened.
  return stream.getTracks()[0];
}

function mediaDevices() {
  if (navigator.mediaDevices) return navigator.mediaDevices;
  throw Object.assign(new Error("insecure context"), { name: "InsecureContextError" });
}
