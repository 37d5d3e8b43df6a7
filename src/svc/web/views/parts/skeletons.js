// Renders placeholders, about as large as the rows that are loading. They appear only if loading is
// noticeably slow.

import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";

/**
 * Placeholders for the messages in a channel or, if `rows` is given, for that many rows of a list.
 * @param {{rows?: number}} props
 */
export const Skeletons = ({ rows }) =>
  html`<div class=${rows ? "skeletons rows" : "skeletons"} role=${rows ? "status" : undefined}>
    <p class="unseen">${t("loading")}</p>
    ${Array.from({ length: rows ?? 6 }, () => html`<i></i>`)}
  </div>`;
