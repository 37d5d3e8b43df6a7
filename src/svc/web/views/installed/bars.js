// What is said above everything: that a new version is here, and that what is shown is what was read last. What was
// shared with the page is asked about from here too.

import { isBusy, newVersion, update } from "../../state/installed.js";
import { notify } from "../../state/notices.js";
import { place, showDialog } from "../../state/place.js";
import { pageFrom } from "../../state/read_last.js";
import { shared } from "../../state/sharing.js";
import { html, useSignalEffect } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { troubleWithServer } from "../channels/sidebar.js";
import { Button } from "../parts/button.js";
import { agoOf } from "../parts/time.js";

export function Bars() {
  useSignalEffect(() => { if (shared.value) showDialog("share"); });
  return html`<div class="bars"><${NewVersion} /><${ShownFrom} /><${Reconnecting} /></div>`;
}

function NewVersion() {
  const load = () => (isBusy() ? notify(t("update-later")) : update());
  return newVersion.value && html`<p class="bar" role="status"><span>${t("new-version")}</span><${Button} look="link" onClick=${load}>${t("load-version")}<//></p>`;
}

function ShownFrom() {
  const fromMs = pageFrom(place.value?.channelId ?? "");
  return html`<p class=${fromMs === null ? "" : "bar offline"} role="status">${fromMs !== null && t("shown-from", { time: agoOf(fromMs) })}</p>`;
}

/** On a narrow page the list of channels, which says so else, is out of sight most of the time. */
function Reconnecting() {
  const words = pageFrom(place.value?.channelId ?? "") === null ? troubleWithServer() : "";
  return html`<p class=${words ? "bar only-small" : ""} role="status">${words}</p>`;
}
