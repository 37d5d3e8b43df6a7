// Renders the start of a private conversation's history on this device: the beginning of the conversation, or
// the point at which this device joined. A new device can request earlier messages from the member's other
// devices.

/** @import { PrivateConversation } from "../../state/private_conversations.js" */

import { notify } from "../../state/notices.js";
import { privateClient } from "../../state/private_client.js";
import { memberOf } from "../../state/people.js";
import { nameOf, othersOf } from "../../state/private_conversations.js";
import { html, useState } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { Avatar } from "../parts/avatar.js";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";

/** @param {{conversation: PrivateConversation}} props */
export function Beginning({ conversation }) {
  const [busy, setBusy] = useState(false);
  const { earlier, two, code } = conversation;
  if (!earlier || earlier === "done")
    return html`<div id="beginning">
      <${Face} conversation=${conversation} />
      <h2 dir="auto">${nameOf(conversation)}</h2>
      <p class="quiet" dir="auto">
        ${t("private-beginning", { name: nameOf(conversation) })} ${t(
          two ? "private-only-two" : "private-only-all",
        )}
      </p>
    </div>`;
  const ask = async () => {
    setBusy(true);
    await privateClient()
      .then((client) => client.requestHistory())
      .catch((error) => notify(explain(error)));
    setBusy(false);
  };
  return html`<div id="beginning" class="private-earlier">
    <p role="status">${t(`private-earlier-${earlier}`)}</p>
    ${earlier === "asked" && html`<p class="private-number of-device">${code.join(" ")}</p>`}
    ${
      ["can", "refused", "failed"].includes(earlier) &&
      html`<${Button} disabled=${busy} onClick=${ask}>
        ${t(earlier === "can" ? "private-earlier-ask" : "private-earlier-again")}
      <//>`
    }
  </div>`;
}

/** @param {{conversation: PrivateConversation}} props */
function Face({ conversation }) {
  const [id] = othersOf(conversation);
  const member = memberOf(id);
  if (!conversation.two || !member) return html`<${Icon} name="people" />`;
  return html`<${Avatar} id=${id} name=${member.nickname} url=${member.avatar} size="huge" />`;
}
