// Record a voice message from the microphone into a file.

/** @import { CallSettings } from "../state/call_settings.js" */

import { openMicrophone } from "./media.js";

/** @type {Record<string, string>} */
// The first type that the browser supports is used.
const TYPES = { "audio/webm;codecs=opus": "webm", "audio/mp4": "m4a" };
const BIT_RATE = 48_000;

/**
 * Start recording. `stop` ends it and resolves with the file; `settings` as in state/call_settings.js.
 * @param {CallSettings} settings
 * @param {string} name
 */
export async function recordVoice(settings, name) {
  const track = await openMicrophone(settings);
  const mimeType = Object.keys(TYPES).find((type) => MediaRecorder.isTypeSupported(type)) ?? "";
  const recorder = new MediaRecorder(new MediaStream([track]), { mimeType, audioBitsPerSecond: BIT_RATE });
  /** @type {Blob[]} */
  const parts = [];
  /** @type {Promise<File>} */
  const file = new Promise((resolve) => {
    recorder.ondataavailable = ({ data }) => parts.push(data);
    recorder.onstop = () => {
      track.stop();
      resolve(new File(parts, `${name}.${TYPES[mimeType] ?? "webm"}`, { type: recorder.mimeType }));
    };
  });
  recorder.start();
  return {
    stop() {
      if (recorder.state !== "inactive") recorder.stop();
      return file;
    },
  };
}
