// Lists the devices that can sign in to the user's account, and creates codes for adding devices.

/** @import { Device as LinkedDevice } from "../../types/api.js" */
/** @import { ResponseBody } from "../../types/wire.js" */

import {
  devices,
  keptCodeMadeAt,
  linkAddress,
  linkCode,
  loadDevices,
  newLinkCode,
  unlinkDevice,
} from "../../state/devices.js";
import { tryOrNotify } from "../../state/notices.js";
import { ownAccount } from "../../state/server.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { Button } from "../parts/button.js";
import { copy } from "../parts/copy_field.js";
import { Confirm } from "../parts/dialog.js";
import { QrCode } from "../parts/qr_code.js";
import { Time } from "../parts/time.js";
import { KeptCode } from "./recovery_code.js";
import { Skeletons } from "../parts/skeletons.js";
import { explain, t } from "../../words/words.js";

export function DevicesPage() {
  const [problem, setProblem] = useState("");
  const [unlinking, setUnlinking] = useState(/** @type {LinkedDevice | null} */ (null));
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    loadDevices().catch((error) => setProblem(explain(error)));
  }, []);
  const link = async () => {
    setBusy(true);
    await tryOrNotify(newLinkCode());
    setBusy(false);
  };
  const all = devices.value;
  return html`
    <p>${t("devices-text")}</p>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    ${!all && !problem && html`<${Skeletons} rows=${3} />`}
    ${
      all?.length === 1 &&
      all[0].tier === "local" &&
      !keptCodeMadeAt.value &&
      html`<p class="advice">${t("only-device")}</p>`
    }
    <ul class="rows" aria-label=${t("settings-devices")}>
      ${all?.map(
        (device) =>
          html`<${Device} key=${device.id} device=${device} onUnlink=${() => setUnlinking(device)} />`,
      )}
    </ul>
    ${
      linkCode.value
        ? html`<${LinkCode} ...${linkCode.value} />`
        : html`<p><${Button} look="primary" onClick=${link} disabled=${busy}>${t("link-device")}<//></p>`
    }
    ${
      unlinking &&
      html`<${Confirm}
        title=${t("unlink-title", { name: unlinking.name || t("device-unnamed") })}
        text=${unlinking.current ? t("unlink-this-text") : t("unlink-text")}
        action=${t("unlink")}
        onConfirm=${() => tryOrNotify(unlinkDevice(unlinking.id))}
        onClose=${() => setUnlinking(null)}
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

const TOGETHER = /.{1,4}/gu; // Splits a code into short groups, which are easy to read.

/** @param {ResponseBody<"POST", "/api/me/devices/link">} props */
export function LinkCode({ code, expires_at_ms: expiresAt }) {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setOver(true), Math.max(0, expiresAt - Date.now()));
    setOver(Date.now() >= expiresAt);
    return () => clearTimeout(timer);
  }, [expiresAt]);
  if (over) return html`<p class="quiet" role="status">${t("code-over")}</p>`;
  return html`<section class="link-code" role="status" aria-label=${t("link-device")}>
    <${QrCode} text=${linkAddress(code)} label=${t("qr-code")} />
    <div class="stack">
      <p>${t("link-code-text")}</p>
      <p><code class="big-code" aria-label=${code}>${(code.match(TOGETHER) ?? []).join(" ")}</code></p>
      <p class="quiet">${t("code-until")} <${Time} ms=${expiresAt} /></p>
      <p>
        <${Button} icon="copy" onClick=${() => copy(linkAddress(code), t("link-copied"))}>
          ${t("copy-the-link")}
        <//>
      </p>
      <p class="quiet">${t("code-warning")}</p>
    </div>
  </section>`;
}
