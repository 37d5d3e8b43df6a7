// Records a voice message as a file. It is attached like any other file and can be removed before sending.

/** @import { CallSettings } from "../../state/call_settings.js" */

import { explainDevice, openMicrophone } from "../../call/media_capture.js";
import { callSettings } from "../../state/call_settings.js";
import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { attach } from "./attachments.js";
import { focusMessageFieldLater } from "../parts/focus.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { t } from "../../words/words.js";

const MAX_DURATION_S = 600;

/** @param {{conversationKey: string, onClose: () => void}} props */
export function VoiceMessage({ conversationKey, onClose }) {
  // Null until the microphone is open.
  const [seconds, setSeconds] = useState(/** @type {number | null} */ (null));
  const [problem, setProblem] = useState("");
  const recording = useRef(/** @type {Awaited<ReturnType<typeof recordVoice>> | null} */ (null));
  useEffect(() => {
    let [closed, timer] = [false, 0];
    recordVoice(callSettings.value, t("voice-message")).then(
      (begun) => {
        recording.current = begun;
        if (closed) {
          begun.stop();
          return;
        }
        setSeconds(0);
        timer = setInterval(() => setSeconds((before) => (before ?? 0) + 1), 1000);
      },
      (error) => setProblem(explainDevice(error, "microphone")),
    );
    return () => {
      closed = true;
      clearInterval(timer);
      recording.current?.stop();
    };
  }, []);
  const finish = async () => {
    const file = await recording.current?.stop();
    if (!file) return;
    onClose();
    attach(conversationKey, [file]);
    focusMessageFieldLater(conversationKey);
  };
  useEffect(() => {
    if ((seconds ?? 0) >= MAX_DURATION_S) finish();
  }, [seconds]);
  return html`<${Dialog} title=${t("voice-message")} onClose=${onClose}>
    ${
      problem
        ? html`<p class="error" role="alert">${problem}</p>`
        : html`<p role="timer">
            ${seconds === null ? t("loading") : t("recording", { time: clock(seconds) })}
          </p>`
    }
    <footer>
      <${Button} onClick=${onClose}>${t("cancel")}<//>
      <${Button} look="primary" disabled=${seconds === null} onClick=${finish}>${t("voice-attach")}<//>
    </footer>
  <//>`;
}

/** Format a duration as "1:05". @param {number} seconds */
const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

/** @type {Record<string, string>} */
// The recorder uses the first type that the browser supports.
const TYPES = { "audio/webm;codecs=opus": "webm", "audio/mp4": "m4a" };
const BIT_RATE = 48_000;

/**
 * Start recording. The returned `stop` ends the recording and resolves to the file. `settings` is described
 * in state/call_settings.js.
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
