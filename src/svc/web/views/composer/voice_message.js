// Record a voice message. It is attached like any other file, so it can be removed before sending.

import { explainDevice } from "../../call/media.js";
import { recordVoice } from "../../call/recording.js";
import { callSettings } from "../../state/call_settings.js";
import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { attach } from "./attach.js";
import { leaveForField } from "./fields.js";

const MOST_S = 600;

/** `spot`: as in state/location.js. @param {{spot: string, onClose: () => void}} props */
export function VoiceMessage({ spot, onClose }) {
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
    attach(spot, [file]);
    leaveForField(spot);
  };
  useEffect(() => {
    if ((seconds ?? 0) >= MOST_S) finish();
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

/** "1:05". @param {number} seconds */
const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
