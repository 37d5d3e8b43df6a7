// Shows the voice and video settings: devices, voice processing, and the quality of received video.

import { canBlur } from "../../call/media_capture.js";
import { callSettings, setCallSettings } from "../../state/call_settings.js";
import { html, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { DeviceSelect, LevelMeter, TestSound } from "../call/device_choice.js";
import { Button } from "../parts/button.js";
import { Choice, Switch } from "../parts/field.js";

/** @param {string[]} names @param {(name: string) => string} words */
const choices = (names, words) =>
  names.map((value) => ({ value, label: words(value), hint: words(`${value}-hint`) }));

export function VoicePage() {
  const { echoCancellation, autoGainControl, noise, input, music, mirror, blur, quality, lessData } =
    callSettings.value;
  return html`
    <${DeviceSelect} kind="audioinput" name="microphone" label=${t("choose-microphone")} />
    <${LevelMeter} threshold=${callSettings.value.threshold} />
    ${
      (input === "push" || matchMedia("(any-pointer: fine)").matches) &&
      html`<${Choice}
        label=${t("input")}
        value=${input}
        options=${choices(["voice", "push"], (/** @type {string} */ name) => t(`input-${name}`))}
        onChange=${(/** @type {string} */ value) => setCallSettings({ input: value })}
      />`
    }
    ${input === "voice" ? html`<${Threshold} />` : html`<${PushKey} />`}
    <${Choice}
      label=${t("noise")}
      value=${noise}
      options=${choices(["off", "usual", "strong"], (/** @type {string} */ name) => t(`noise-${name}`))}
      onChange=${(/** @type {string} */ value) => setCallSettings({ noise: value })}
    />
    <${Switch}
      label=${t("echo")}
      checked=${echoCancellation}
      onChange=${(/** @type {boolean} */ on) => setCallSettings({ echoCancellation: on })}
    />
    <${Switch}
      label=${t("gain")}
      checked=${autoGainControl}
      onChange=${(/** @type {boolean} */ on) => setCallSettings({ autoGainControl: on })}
    />
    <${Switch}
      label=${t("music")}
      hint=${t("music-hint")}
      checked=${music}
      onChange=${(/** @type {boolean} */ on) => setCallSettings({ music: on })}
    />
    <${DeviceSelect} kind="audiooutput" name="speaker" label=${t("choose-speaker")} />
    <p><${TestSound} /></p>
    <${DeviceSelect} kind="videoinput" name="camera" label=${t("choose-camera")} />
    <${Switch}
      label=${t("mirror")}
      checked=${mirror}
      onChange=${(/** @type {boolean} */ on) => setCallSettings({ mirror: on })}
    />
    ${
      canBlur()
        ? html`<${Switch}
            label=${t("blur")}
            hint=${t("blur-hint")}
            checked=${blur}
            onChange=${(/** @type {boolean} */ on) => setCallSettings({ blur: on })}
          />`
        : html`<p class="quiet">${t("blur-never")}</p>`
    }
    <${Choice}
      label=${t("quality-of-pictures")}
      value=${quality}
      options=${choices(["automatic", "high", "low", "saver"], (/** @type {string} */ name) =>
        t(`quality-${name}`),
      )}
      onChange=${(/** @type {string} */ value) => setCallSettings({ quality: value })}
    />
    <${Switch}
      label=${t("less-data")}
      hint=${t("less-data-hint")}
      checked=${lessData}
      onChange=${(/** @type {boolean} */ on) => setCallSettings({ lessData: on })}
    />
  `;
}

function Threshold() {
  const { threshold } = callSettings.value;
  return html`<label class="field">
    ${t("threshold")}
    <input
      type="range"
      min="0"
      max="1"
      step="0.02"
      value=${threshold}
      onChange=${(/** @type {EventOn<HTMLInputElement>} */ event) =>
        setCallSettings({ threshold: Number(event.currentTarget.value) })}
    />
    <span class="quiet">${t("threshold-hint")}</span>
  </label>`;
}

/** The settings for the push-to-talk key and its release delay. */
function PushKey() {
  const { pushKey, releaseMs } = callSettings.value;
  const [waiting, setWaiting] = useState(false);
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (!waiting) return;
    event.preventDefault();
    event.stopPropagation();
    setWaiting(false);
    if (event.key !== "Escape") setCallSettings({ pushKey: event.code });
  };
  return html`
    <p>
      <${Button} onClick=${() => setWaiting(true)} onKeyDown=${pressed} aria-live="polite">
        ${waiting ? t("press-a-key") : t("push-key", { key: pushKey })}
      <//>
    </p>
    <label class="field">
      ${t("release")}
      <input
        type="number"
        min="0"
        max="2000"
        step="50"
        value=${releaseMs}
        onChange=${(/** @type {EventOn<HTMLInputElement>} */ event) =>
          setCallSettings({ releaseMs: Number(event.currentTarget.value) || 0 })}
      />
    </label>
  `;
}
