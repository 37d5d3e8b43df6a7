// Messages that are still loading, as shapes of their size.

import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";

export const Skeletons = () =>
  html`<div class="skeletons">
    <p class="unseen">${t("loading")}</p>
    ${[..."123456"].map(() => html`<i></i>`)}
  </div>`;
