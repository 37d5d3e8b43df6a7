// Shows the call's quality: current measurements, graphs of the last few minutes, and the video layers that
// the server sends.

/**
 * @import { Received, Sent } from "../../call/call_statistics.js"
 * @import { Layers, Source } from "../../call/session.js"
 */

import { callState, tracks } from "../../call/current_call.js";
import { estimate, layers } from "../../call/layer_requests.js";
import { reading, readings, report } from "../../call/call_statistics.js";
import { notify } from "../../state/notices.js";
import { memberOf } from "../../state/people.js";
import { html } from "../../vendor/preact.js";
import { language, t } from "../../words/words.js";
import { SidePanel } from "../parts/side_panel.js";
import { Button } from "../parts/button.js";

const WIDTH = 260;
const HEIGHT = 56;

/** @param {{onClose: () => void}} props */
export function QualityPanel({ onClose }) {
  const [now, carried] = [reading.value, estimate.value];
  const lowered = [...layers.value.values()].filter(({ reason }) => reason === "line");
  const pictures = lowered.some(({ paused }) => paused) ? "paused" : lowered.length ? "line" : "wish";
  const copy = () =>
    now &&
    navigator.clipboard
      .writeText(report(now, readings.value, { estimate: carried, layers: layers.value }))
      .then(
        () => notify(t("copied"), "done"),
        () => notify(t("copy-failed")),
      );
  return html`<${SidePanel} title=${t("quality")} onClose=${onClose}>
    ${callState.value === "none" && html`<p class="quiet">${t("call-none")}</p>`}
    ${callState.value !== "none" && !now && html`<p class="quiet">${t("loading")}</p>`}
    ${
      now &&
      html`
        <dl class="numbers">
          <div><dt>${t("round-trip")}</dt><dd>${t("ms", { ms: now.path.roundTripMs })}</dd></div>
          <div><dt>${t("path")}</dt><dd>${t(`path-${now.path.kind || "unknown"}`)}</dd></div>
          ${carried && html`<div><dt>${t("downlink")}</dt><dd>${t("downlink-rate", carried)}</dd></div>`}
          <div>
            <dt>${t("pictures-of-others")}</dt>
            <dd>${t(`layers-${pictures}`)}</dd>
          </div>
        </dl>
        <${Graph}
          label=${t("round-trip")}
          values=${readings.value.map((reading) => reading.roundTripMs)}
          words=${(/** @type {number} */ ms) => t("ms", { ms })}
        />
        <${Graph}
          label=${t("loss")}
          values=${readings.value.map((reading) => reading.lost * 100)}
          words=${(/** @type {number} */ highest) => percent(highest / 100)}
        />
        <h3>${t("sent-by-me")}</h3>
        ${now.sent.map(
          (encoding) =>
            html`<${Line}
              key=${`${encoding.mid} ${encoding.width}`}
              name=${t(`source-${encoding.source || "unknown"}`)}
              line=${encoding}
            />`,
        )}
        <h3>${t("received")}</h3>
        ${[...new Set(now.received.map(({ userId }) => userId))].map(
          (id) =>
            html`<${OfPerson}
              key=${id}
              id=${id}
              lines=${now.received.filter(({ userId }) => userId === id)}
            />`,
        )}
        <p><${Button} icon="copy" onClick=${copy}>${t("copy-report")}<//></p>
      `
    }
  <//>`;
}

const percent = (/** @type {number} */ share) =>
  new Intl.NumberFormat(language(), { style: "percent", maximumFractionDigits: 1 }).format(share);

/** @param {{name: string, line: Sent & Partial<Received>}} props */
function Line({ name, line }) {
  const { codec, kbps, width, height, fps, scalability, trackId, lost, jitterMs, concealed = 0 } = line;
  const parts = [
    codec,
    t("rate-kbps", { kbps }),
    width > 0 && `${width}×${height}`,
    width > 0 && t("fps", { fps }),
    scalability,
    ...layerWords(layers.value.get(trackId ?? "")),
    t("lost", { share: percent(lost) }),
    jitterMs !== undefined && t("jitter", { ms: jitterMs }),
    concealed > 0 && t("concealed", { share: percent(concealed) }),
  ];
  return html`<div class="quality-line">
    <b dir="auto">${name}</b>
    <span class="quiet">${parts.filter(Boolean).join(" · ")}</span>
  </div>`;
}

/**
 * The quality of the media received from one member, now and over the last few minutes.
 * @param {{id: string, lines: Received[]}} props
 */
function OfPerson({ id, lines }) {
  const name = memberOf(id)?.nickname ?? t("somebody");
  return html`<section class="quality-person">
    <h4 dir="auto">${name}</h4>
    ${lines.map(
      (line) =>
        html`<${Line} key=${line.trackId} name=${t(`source-${line.source || "unknown"}`)} line=${line} />`,
    )}
    <${Graph}
      label=${t("rate")}
      values=${readings.value.map(({ people }) => people[id] ?? 0)}
      words=${(/** @type {number} */ kbps) => t("rate-kbps", { kbps })}
    />
  </section>`;
}

/**
 * A graph of the last few minutes, with its highest value.
 * @param {{label: string, values: number[], words: (value: number) => string}} props
 */
function Graph({ label, values, words }) {
  const highest = Math.max(0, ...values);
  const scale = Math.max(1, highest); // At least 1, which keeps tiny values from looking large.
  const points = values
    .map(
      (value, index) =>
        `${((index + 180 - values.length) * WIDTH) / 179},${HEIGHT - (value / scale) * (HEIGHT - 4) - 2}`,
    )
    .join(" ");
  return html`<figure class="graph">
    <figcaption>${label} <span class="quiet">${t("at-most", { value: words(highest) })}</span></figcaption>
    <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${label} preserveAspectRatio="none">
      <polyline points=${points} />
    </svg>
  </figure>`;
}

/**
 * Return which layers of a member's video the server sends to this client, or null if this is unknown.
 * @param {string} userId
 * @param {Source} source
 */
export function layersOf(userId, source) {
  const track = tracks.value.find((track) => track.userId === userId && track.source === source);
  return layers.value.get(track?.trackId ?? "") ?? null;
}

/**
 * Describe how the server limits the video that it sends (a reduced size or frame rate, or a pause) and the
 * reason.
 * @param {Layers | null | undefined} sent
 * @returns {string[]}
 */
export function layerWords(sent) {
  if (!sent) return [];
  const { spatial, temporal, paused, reason } = sent;
  const what = paused
    ? [t("picture-paused")]
    : [
        spatial >= 0 ? t("picture-size", { layer: spatial }) : "",
        temporal >= 0 ? t("layers-asked", { layer: temporal }) : "",
      ];
  return [...what, reason === "wish" ? "" : t("picture-reason", { reason })].filter(Boolean);
}
