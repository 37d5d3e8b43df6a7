// Renders controls for choosing and testing the microphone, speaker and camera, and for changing the voice
// processing. They are used in the join dialog and in the settings.

/** @import { RefObject } from "../../vendor/preact.js" */

import { callState, ownLevel, sending } from "../../call/current_call.js";
import { devices, lookForDevices } from "../../call/devices.js";
import { explainDevice, facesAway, openCamera, openMicrophone } from "../../call/media_capture.js";
import { Microphone } from "../../call/microphone.js";
import { callSettings, setCallSettings } from "../../state/call_settings.js";
import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { Video } from "./tile.js";
import { Button } from "../parts/button.js";
import { t } from "../../words/words.js";

/**
 * A list of devices of one kind. `named` hides the label visually, because the heading above is the same.
 * @param {{kind: MediaDeviceKind, name: "microphone" | "camera" | "speaker", label: string, named?: boolean}}
 *   props
 */
export function DeviceSelect({ kind, name, label, named: hidesLabel = false }) {
  const list = devices.value[kind];
  useEffect(() => {
    lookForDevices();
  }, []);
  if (kind === "audiooutput" && !("setSinkId" in HTMLMediaElement.prototype))
    return html`<p class="quiet">${t("no-speaker-choice")}</p>`;
  const value = list.some(({ id }) => id === callSettings.value[name]) ? callSettings.value[name] : "";
  return html`<label class="field">
    <span class=${hidesLabel ? "unseen" : ""}>${label}</span>
    <select
      value=${value}
      onChange=${(/** @type {EventOn<HTMLSelectElement>} */ event) =>
        setCallSettings({ [name]: event.currentTarget.value })}
    >
      <option value="" selected=${value === ""}>${t("device-usual")}</option>
      ${list.map(
        ({ id, label: words }, index) =>
          html`<option key=${id} value=${id} selected=${id === value}>
            ${words || t("device-number", { number: index + 1 })}
          </option>`,
      )}
    </select>
  </label>`;
}

/**
 * A level meter for the microphone of the ongoing call or, outside calls, for a microphone opened for
 * testing. A line marks `threshold`.
 * @param {{threshold?: number}} props
 */
export function LevelMeter({ threshold = 0 }) {
  /** @type {RefObject<HTMLMeterElement>} */
  const bar = useRef(null);
  const [problem, setProblem] = useState("");
  const { microphone, noise, music } = callSettings.value;
  const inCall = callState.value !== "none";
  useEffect(() => {
    let [closed, opened, frame] = [false, /** @type {Microphone | null} */ (null), 0];
    const level = () => (inCall ? ownLevel() : (opened?.level() ?? 0));
    const draw = () => {
      if (bar.current) bar.current.value = level();
      frame = requestAnimationFrame(draw);
    };
    if (!inCall) {
      const open = async () => {
        const settings = { ...callSettings.peek(), input: "voice", threshold: 0 };
        const mic = await Microphone.of(await openMicrophone(settings), settings);
        if (closed) mic.close();
        else opened = mic;
      };
      open().catch((error) => setProblem(explainDevice(error, "microphone")));
    }
    draw();
    return () => {
      closed = true;
      cancelAnimationFrame(frame);
      opened?.close();
    };
  }, [inCall, microphone, noise, music]);
  return html`<div class="field">
    <span id="level-label">${t("level")}</span>
    <meter ref=${bar} min="0" max="1" low=${threshold || undefined} aria-labelledby="level-label"></meter>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
  </div>`;
}

/**
 * A preview of the video that others would see. In a call, this is the video being sent, because a phone can
 * open only one camera.
 */
export function SelfView() {
  const [track, setTrack] = useState(/** @type {MediaStreamTrack | null} */ (null));
  const [problem, setProblem] = useState("");
  const { camera, mirror, blur } = callSettings.value;
  const sent = sending.value.camera;
  const shown = sent ?? track;
  useEffect(() => {
    if (sent) return undefined;
    let [closed, opened] = [false, /** @type {MediaStreamTrack | null} */ (null)];
    openCamera({ camera, blur }).then(
      (got) => {
        if (closed) got.stop();
        else setTrack((opened = got));
      },
      (error) => setProblem(explainDevice(error, "camera")),
    );
    return () => {
      closed = true;
      opened?.stop();
      setTrack(null);
    };
  }, [sent, camera, blur]);
  return problem && !sent
    ? html`<p class="error" role="alert">${problem}</p>`
    : html`<div class=${`self-view with-video ${mirror && !facesAway(shown) ? "mirrored" : ""}`}>
        <${Video} track=${shown} />
      </div>`;
}

export function TestSound() {
  return html`<${Button} icon="voice" onClick=${() => playTestSound(callSettings.value.speaker)}>
    ${t("test-sound")}
  <//>`;
}

const NOTES_HZ = [523, 659, 784];
const NOTE_S = 0.22;

/** @param {string} speaker */
export async function playTestSound(speaker) {
  const context = new AudioContext();
  // Use a media element, because it is the only way to choose the output device in every browser.
  const [element, out] = [new Audio(), context.createMediaStreamDestination()];
  element.srcObject = out.stream;
  if (speaker) await element.setSinkId?.(speaker).catch(() => {});
  await element.play().catch(() => {});
  NOTES_HZ.forEach((frequency, index) => {
    const [note, gain, at] = [
      context.createOscillator(),
      context.createGain(),
      context.currentTime + index * NOTE_S,
    ];
    note.frequency.value = frequency;
    gain.gain.setValueAtTime(0.2, at);
    gain.gain.exponentialRampToValueAtTime(0.001, at + NOTE_S * 1.6);
    note.connect(gain).connect(out);
    note.start(at);
    note.stop(at + NOTE_S * 1.6);
  });
  setTimeout(() => context.close(), NOTES_HZ.length * NOTE_S * 1000 + 1000);
}
