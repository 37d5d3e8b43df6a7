// Renders placeholders for rows that are still loading, about as large as the rows. They appear only if
// loading is noticeably slow.

import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";

/**
 * Placeholders for the messages in a channel, or for the first `rows` of a list.
 * @param {{rows?: number}} props
 */
export const Skeletons = ({ rows }) =>
  html`<div class=${rows ? "skeletons rows" : "skeletons"} role=${rows ? "status" : undefined}>
    <p class="unseen">${t("loading")}</p>
    ${Array.from({ length: rows ?? 6 }, () => html`<i></i>`)}
  </div>`;
