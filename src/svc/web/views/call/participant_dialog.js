// Shows the user's settings for one participant: their volume and the quality of their video.

/** @import { Source } from "../../call/session.js" */

import { reading } from "../../call/call_statistics.js";
import { tracks } from "../../call/current_call.js";
import { estimate, layers } from "../../call/layer_requests.js";
import { participants } from "../../call/participants.js";
import { choosePerson, people, personSettings } from "../../state/call_settings.js";
import { memberOf } from "../../state/people.js";
import { showDialog } from "../../state/navigation.js";
import { html } from "../../vendor/preact.js";
import { language, t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Choice, Switch } from "../parts/field.js";
import { layerWords } from "./quality_panel.js";

const VIDEOS = /** @type {const} */ (["camera", "screen"]);
const NO_FRAME = { width: 0, height: 0, fps: 0 };

/** @param {{memberId: string, onClose: () => void}} props */
export function CallPerson({ memberId, onClose }) {
  people.value; // Subscribes to the stored settings, which can change while the dialog is open.
  const { volume, muted, screenVolume, quality } = personSettings(memberId);
  const choose = (/** @type {Parameters<typeof choosePerson>[1]} */ changes) =>
    choosePerson(memberId, changes);
  const options = ["", "automatic", "high", "low", "saver"].map((value) => ({
    value,
    label: t(value ? `quality-${value}` : "quality-usual"),
    hint: value && t(`quality-${value}-hint`),
  }));
  return html`<${Dialog} title=${memberOf(memberId)?.nickname ?? t("somebody")} onClose=${onClose}>
    <${Volume}
      label=${t("volume")}
      value=${volume}
      onChange=${(/** @type {number} */ value) => choose({ volume: value })}
    />
    <${Switch}
      label=${t("mute-for-me")}
      checked=${muted}
      onChange=${(/** @type {boolean} */ on) => choose({ muted: on })}
    />
    <${Volume}
      label=${t("screen-volume")}
      value=${screenVolume}
      onChange=${(/** @type {number} */ value) => choose({ screenVolume: value })}
    />
    <${Choice}
      label=${t("quality-of-picture")}
      value=${quality}
      options=${options}
      onChange=${(/** @type {string} */ value) => choose({ quality: value })}
    />
    <${Now} memberId=${memberId} />
    <footer><${Button} onClick=${() => showDialog("profile", { memberId })}>${t("profile")}<//></footer>
  <//>`;
}

/**
 * The current sizes of the participant's videos, with the reasons for them, and the estimated downlink
 * bandwidth.
 * @param {{memberId: string}} props
 */
function Now({ memberId }) {
  const videos = VIDEOS.flatMap((source) => {
    const words = videoWords(memberId, source);
    return words.length
      ? [
          html`<p key=${source} class="quiet picture-now">
      ${t("picture-now")}, ${t(`source-${source}`)}: ${words.join(" · ")}
    </p>`,
        ]
      : [];
  });
  const line = estimate.value;
  return html`${videos}
    ${line && videos.length > 0 && html`<p class="quiet">${t("downlink")}: ${t("downlink-rate", line)}</p>`}`;
}

/**
 * Describe a participant's video: its size, or the reason why it is not shown.
 * @param {string} memberId
 * @param {Source} source
 */
function videoWords(memberId, source) {
  const track = tracks.value.find((track) => track.userId === memberId && track.source === source);
  const withheld = participants().find(({ id }) => id === memberId)?.withheld?.[source];
  if (withheld) return [t("withheld", { reason: withheld })];
  if (!track) return [];
  const sent = layers.value.get(track.trackId);
  const { width, height, fps } =
    reading.value?.received.find(({ trackId }) => trackId === track.trackId) ?? NO_FRAME;
  const size = width > 0 ? [`${width}×${height}`, t("fps", { fps })] : [t("loading")];
  return [...(sent?.paused ? [] : size), ...layerWords(sent)];
}

/**
 * A slider for a volume from 0 to 200 %. A double-click resets it to 100 %.
 * @param {{label: string, value: number, onChange: (value: number) => void}} props
 */
function Volume({ label, value, onChange }) {
  const words = new Intl.NumberFormat(language(), { style: "percent" }).format(value);
  return html`<label class="field">
    ${label} <span class="quiet">${words}</span>
    <input
      type="range"
      min="0"
      max="2"
      step="0.05"
      value=${value}
      aria-valuetext=${words}
      onDblClick=${() => onChange(1)}
      onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) =>
        onChange(Number(event.currentTarget.value))}
    />
  </label>`;
}
