// Shows banners at the top when a new version is available or the offline copy is shown. Also opens the share
// dialog for content that was shared with the app.

import { callTrouble } from "../../call/current_call.js";
import { isBusy, newVersion, update } from "../../state/installation.js";
import { notify } from "../../state/notices.js";
import { currentLocation, showDialog } from "../../state/navigation.js";
import { pageFrom } from "../../state/offline_copy.js";
import { shared } from "../../state/shared_content.js";
import { html, useSignalEffect } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { troubleWithServer } from "../channels/sidebar.js";
import { Button } from "../parts/button.js";
import { formatAgo } from "../parts/time.js";

export function Banners() {
  useSignalEffect(() => {
    if (shared.value) showDialog("share");
  });
  return html`<div class="banners"><${NewVersion} /><${ShownFrom} /><${Reconnecting} /></div>`;
}

function NewVersion() {
  const load = () => (isBusy() ? notify(t("update-later")) : update());
  return (
    newVersion.value &&
    html`<p class="banner" role="status">
      <span>${t("new-version")}</span>
      <${Button} look="link" onClick=${load}>${t("load-version")}<//>
    </p>`
  );
}

function ShownFrom() {
  const fromMs = pageFrom(currentLocation.value?.channelId ?? "");
  return html`<p class=${fromMs === null ? "" : "banner"} role="status">
    ${fromMs !== null && t("shown-from", { time: formatAgo(fromMs) })}
  </p>`;
}

/**
 * The banner about a lost connection in narrow windows, where the channel list, which also reports it, is
 * usually hidden. In a call, the call's own message is shown instead, because it is more precise.
 */
function Reconnecting() {
  const isExplained = callTrouble.value || pageFrom(currentLocation.value?.channelId ?? "") !== null;
  const words = isExplained ? "" : troubleWithServer();
  return html`<p class=${words ? "banner only-small" : ""} role="status">${words}</p>`;
}
