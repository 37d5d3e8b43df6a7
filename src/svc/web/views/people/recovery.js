// A recovery code from the owner for a member who has lost all devices. Explains the effects before the code
// is created.

/** @import { Answer } from "../../types/wire.js" */

import { recoveryCode } from "../../state/own_account.js";
import { memberOf } from "../../state/people.js";
import { html, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { useFormRequest } from "../admin/parts/form_request.js";
import { Button } from "../parts/button.js";
import { Copyable } from "../parts/copy_field.js";
import { Dialog } from "../parts/dialog.js";
import { Time } from "../parts/time.js";

/** @param {{memberId: string, onClose: () => void}} props */
export function Recovery({ memberId, onClose }) {
  const [made, setMade] = useState(
    /** @type {Answer<"POST", `/api/members/${string}/recovery`> | null} */ (null),
  );
  const { busy, problem, run } = useFormRequest();
  const name = memberOf(memberId)?.nickname ?? t("somebody");
  const make = () => run(async () => setMade(await recoveryCode(memberId)));
  return html`<${Dialog} title=${t("recovery-title", { name })} onClose=${onClose}>
    <p dir="auto">${t("recovery-text", { name })}</p>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    ${
      made
        ? html`
            <${Copyable} label=${t("recovery-code")} text=${made.code} done=${t("copied")} />
            <p class="quiet">${t("code-until")} <${Time} ms=${made.expires_at_ms} style="long" /></p>
          `
        : html`<footer>
            <${Button} onClick=${onClose}>${t("cancel")}<//>
            <${Button} look="primary" onClick=${make} disabled=${busy}>${t("recovery-make")}<//>
          </footer>`
    }
  <//>`;
}
