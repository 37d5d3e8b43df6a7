// A warning, with advice, for members who create invites while the server's address does not work for other
// people.

import { problemOf } from "../../../state/server_address.js";
import { html } from "../../../vendor/preact.js";
import { t } from "../../../words/words.js";

/** Shows nothing if the address works. */
export function Reach() {
  const problem = problemOf(location);
  if (!problem) return null;
  return html`<div class="finding" data-problem=${problem} role="note">
    <p><b>${t(`reach-${problem}`, { address: location.host })}</b></p>
    <p>${t(`reach-${problem}-do`)}</p>
  </div>`;
}
