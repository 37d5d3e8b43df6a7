// Says to whoever invites people that the address does not work for them, and what to do about it.

import { problemOf } from "../../../state/reach.js";
import { html } from "../../../vendor/preact.js";
import { t } from "../../../words/words.js";

/** Nothing where all is well. */
export function Reach() {
  const problem = problemOf(location);
  if (!problem) return null;
  return html`<div class="finding" data-problem=${problem} role="note"><p><b>${t(`reach-${problem}`, { address: location.host })}</b></p><p>${t(`reach-${problem}-do`)}</p></div>`;
}
