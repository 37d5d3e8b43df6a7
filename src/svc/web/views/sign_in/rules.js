// The server's rules, which a new member accepts.

/** @import { Info } from "../../types/wire.js" */

import { wish, wishes } from "../../state/sign_in.js";
import { info } from "../../state/server.js";
import { html, useId } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Switch } from "../parts/field.js";
import { wrong } from "./submit_buttons.js";

export function Rules() {
  const id = useId();
  const { rules, rulesVersion } = /** @type {Info} */ (info.value);
  if (!rules) return null;
  const problem = wrong("rules");
  // Rules that changed meanwhile must be accepted again.
  const accepted = wishes.value.rules === rulesVersion;
  return html`<section class="rules" aria-label=${t("server-rules")}>
    <div class="rules-text" dir="auto" tabindex="0" role="group" aria-label=${t("server-rules")}>
      ${rules}
    </div>
    <${Switch}
      label=${t("accept-rules")}
      checked=${accepted}
      onChange=${(/** @type {boolean} */ on) => wish({ rules: on ? rulesVersion : "" })}
      aria-invalid=${problem ? "true" : undefined}
      aria-describedby=${problem ? id : undefined}
    />
    ${problem && html`<p class="error" id=${id} role="alert">${problem}</p>`}
  </section>`;
}
