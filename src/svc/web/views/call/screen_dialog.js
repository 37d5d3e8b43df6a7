// Shows the dialog for sharing the user's screen. It has settings for the size, for the frame rate, and for
// optimising text or motion. Changes take effect immediately.

import { sending, toggleScreen } from "../../call/current_call.js";
import { callSettings, setCallSettings } from "../../state/call_settings.js";
import { SCREEN_SIZES } from "../../call/encodings.js";
import { html } from "../../vendor/preact.js";
import { language, t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Choice } from "../parts/field.js";

/** @param {{onClose: () => void}} props */
export function ScreenDialog({ onClose }) {
  const { screen, screenSize } = callSettings.value;
  const number = new Intl.NumberFormat(language(), { maximumFractionDigits: 1 });
  const share = () => {
    onClose();
    toggleScreen();
  };
  return html`<${Dialog} title=${t("screen-options")} onClose=${onClose}>
    <${Choice}
      label=${t("screen-kind")}
      value=${screen}
      options=${["text", "motion"].map((value) => ({ value, label: t(`screen-${value}`) }))}
      onChange=${(/** @type {string} */ value) => setCallSettings({ screen: value })}
    />
    <label class="field">
      ${t("screen-size")}
      <select
        value=${screenSize}
        onChange=${(/** @type {EventOn<HTMLSelectElement>} */ event) =>
          setCallSettings({ screenSize: event.currentTarget.value })}
      >
        <option value="" selected=${screenSize === ""}>${t("screen-size-automatic")}</option>
        ${SCREEN_SIZES.map(
          ({ key, height, fps, bps }) =>
            html`<option key=${key} value=${key} selected=${screenSize === key}>
              ${t("screen-size-option", {
                height: String(height),
                fps: number.format(fps),
                mbps: number.format(bps / 1e6),
              })}
            </option>`,
        )}
      </select>
      <span class="quiet">${t("screen-size-hint")}</span>
    </label>
    <footer>
      <${Button} onClick=${onClose}>${t("close")}<//>
      ${!sending.value.screen && html`<${Button} look="primary" onClick=${share}>${t("share-screen")}<//>`}
    </footer>
  <//>`;
}
