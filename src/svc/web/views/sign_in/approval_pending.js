// The view for somebody who waits to be admitted. The state polls by itself.

import { goTo } from "../../state/sign_in.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "../parts/button.js";

export function Waiting() {
  return html`<div class="stack" role="status">
    <p><strong>${t("waiting-title")}</strong></p>
    <p>${t("waiting-text")}</p>
    <${Button} onClick=${() => goTo("new")}>${t("back-to-form")}<//>
  </div>`;
}
