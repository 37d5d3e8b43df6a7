// A code for another device: to read aloud, type, or scan.

/** @import { Answer } from "../../types/wire.js" */

import { linkAddress } from "../../state/devices.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { copy } from "../parts/copyable.js";
import { QrCode } from "../parts/qr_code.js";
import { Time } from "../parts/time.js";

const TOGETHER = /.{1,4}/gu; // Groups of letters that are easy to read.

/** @param {Answer<"POST", "/api/me/devices/link">} props */
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
