// Shows the start of a channel's history: its name and topic and, while the channel is empty, a button for
// inviting others.

/** @import { Channel } from "../../types/api.js" */

import { hasPermission } from "../../state/channels.js";
import { firstSteps } from "../../state/first_steps.js";
import { showDialog } from "../../state/navigation.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";

/** @param {{channel: Channel, empty: boolean}} props */
export function ChannelStart({ channel: { name, topic }, empty }) {
  return html`
    <${Icon} name="hash" />
    <h2 dir="auto">${name}</h2>
    <p class="quiet" dir="auto">${t(empty ? "empty-channel" : "beginning", { channel: name })}</p>
    ${topic && html`<p class="quiet" dir="auto">${topic}</p>`}
    ${
      empty &&
      !firstSteps.value &&
      hasPermission("create_invites") &&
      html`<${Button} icon="invite" onClick=${() => showDialog("invite")}>${t("invite-others")}<//>`
    }
  `;
}
