// The devices that sign in as us, and a code for another device.

/** @import { Device as LinkedDevice } from "../../types/api.js" */

import {
  devices,
  keptCodeMadeAt,
  linkCode,
  loadDevices,
  newLinkCode,
  unlinkDevice,
} from "../../state/devices.js";
import { tried } from "../../state/notices.js";
import { ownAccount } from "../../state/server.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/dialog.js";
import { Time } from "../parts/time.js";
import { KeptCode } from "./recovery_code.js";
import { LinkCode } from "./link_code.js";

export function DevicesPage() {
  const [problem, setProblem] = useState("");
  const [asked, setAsked] = useState(/** @type {LinkedDevice | null} */ (null));
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    loadDevices().catch((error) => setProblem(explain(error)));
  }, []);
  const link = async () => {
    setBusy(true);
    await tried(newLinkCode());
    setBusy(false);
  };
  const all = devices.value;
  return html`
    <p>${t("devices-text")}</p>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    ${!all && !problem && html`<p class="quiet">${t("loading")}</p>`}
    ${
      all?.length === 1 &&
      all[0].tier === "local" &&
      !keptCodeMadeAt.value &&
      html`<p class="advice">${t("only-device")}</p>`
    }
    <ul class="rows" aria-label=${t("settings-devices")}>
      ${all?.map(
        (device) => html`<${Device} key=${device.id} device=${device} onUnlink=${() => setAsked(device)} />`,
      )}
    </ul>
    ${
      linkCode.value
        ? html`<${LinkCode} ...${linkCode.value} />`
        : html`<p><${Button} look="primary" onClick=${link} disabled=${busy}>${t("link-device")}<//></p>`
    }
    ${
      asked &&
      html`<${Confirm}
        title=${t("unlink-title", { name: asked.name || t("device-unnamed") })}
        text=${asked.current ? t("unlink-this-text") : t("unlink-text")}
        action=${t("unlink")}
        onConfirm=${() => tried(unlinkDevice(asked.id))}
        onClose=${() => setAsked(null)}
      >
        ${keptCodeMadeAt.value && html`<p class="advice">${t("unlink-kept-code")}</p>`}
      <//>`
    }
    ${ownAccount().way === "local" && html`<${KeptCode} />`}
  `;
}

/** @param {{device: LinkedDevice, onUnlink: () => void}} props */
function Device({ device, onUnlink }) {
  const { name, tier, current, added_at_ms: addedAt, last_seen_at_ms: seenAt } = device;
  return html`<li>
    <span class="row-text">
      <strong dir="auto">${name || t("device-unnamed")}</strong>
      ${current && html` <span class="pill">${t("own-this-device")}</span>`}
      <small class="quiet">
        ${t(`tier-${tier}`)} · ${t("device-added")} <${Time} ms=${addedAt} style="day" />
        ${!current && html` · ${t("device-seen")} <${Time} ms=${seenAt} style="long" />`}
      </small>
    </span>
    <${Button} onClick=${onUnlink} aria-label=${t("unlink-named", { name: name || t("device-unnamed") })}>
      ${t("unlink")}
    <//>
  </li>`;
}
