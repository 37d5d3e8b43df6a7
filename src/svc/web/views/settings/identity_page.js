// Shows the settings page for signing out or using another account. Explains the effect on the current
// account.

import { devices, keptCodeMadeAt, loadDevices } from "../../state/devices.js";
import { conversations } from "../../state/private_conversations.js";
import { forgetIdentity, member, ownAccount, signOut } from "../../state/server.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/dialog.js";

/** @param {{onPage: (page: string) => void}} props */
export function IdentityPage({ onPage }) {
  const [confirm, setConfirm] = useState(/** @type {"out" | "other" | null} */ (null));
  // Ignore errors. Other devices are mentioned only once the response has arrived.
  useEffect(() => {
    loadDevices().catch(() => {});
  }, []);
  const close = () => setConfirm(null);
  const { way } = ownAccount();
  const alone = devices.value?.length === 1 && way === "local" && !keptCodeMadeAt.value;
  if (!member.value) return null;
  const { nickname } = member.value;
  return html`
    <p>${t(`identity-${way}`)}</p>
    <p><${Button} onClick=${() => setConfirm("out")}>${t("sign-out")}<//></p>
    ${
      way === "local" &&
      html`<p><${Button} look="danger" onClick=${() => setConfirm("other")}>${t("change-identity")}<//></p>`
    }
    ${
      // This text is below the buttons. Above them, it would push them away from the pointer when it appears.
      alone &&
      html`<p class="advice">
        ${t("only-device")} <${Button} look="link" onClick=${() => onPage("devices")}>${t("link-device")}<//>
      </p>`
    }
    ${
      confirm === "out" &&
      html`<${Confirm}
        title=${t("sign-out-title")}
        text=${t(`sign-out-${way}`)}
        action=${t("sign-out")}
        onConfirm=${signOut}
        onClose=${close}
      >
        ${alone && html`<p class="advice">${t("sign-out-alone")}</p>`}
        ${conversations.value.length > 0 && html`<p class="advice">${t("private-erased")}</p>`}
      <//>`
    }
    ${
      confirm === "other" &&
      html`<${Confirm}
        title=${t("give-up-identity-title")}
        text=${alone ? t("give-up-identity-alone", { name: nickname }) : t("give-up-identity-text")}
        action=${t("change-identity")}
        onConfirm=${forgetIdentity}
        onClose=${close}
      />`
    }
  `;
}
