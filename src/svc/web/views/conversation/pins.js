// Lists a channel's pinned messages in the side panel.

/** @import { Channel, Message } from "../../types/api.js" */

import { conversationOf } from "../../state/conversation.js";
import { ask, connection } from "../../state/server.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { goTo, MessageLine } from "./message_line.js";
import { SidePanel, EmptyState } from "../parts/side_panel.js";
import { Button } from "../parts/button.js";
import { Skeletons } from "../parts/skeletons.js";
import { explain, t } from "../../words/words.js";

/** @param {{channel: Channel, onClose: () => void}} props */
export function Pins({ channel, onClose }) {
  const [pins, setPins] = useState(/** @type {{messages?: Message[], problem?: string} | null} */ (null));
  const again = () => {
    ask("pins", { channel_id: channel.id }).then(setPins, (error) =>
      setPins((known) => ({ ...known, problem: explain(error) })),
    );
  };
  // Refetch the list when a loaded message is pinned or unpinned.
  const pinned = conversationOf(channel.id).messages.value.filter(({ pinned: is }) => is).length;
  useEffect(again, [channel.id, pinned, connection.value === "online"]);
  return html`<${SidePanel} title=${t("pins")} onClose=${onClose}>
    ${!pins && html`<${Skeletons} rows=${3} />`}
    ${
      pins?.problem &&
      html`<p class="error">
        ${pins.problem} <${Button} look="link" onClick=${again}>${t("try-again")}<//>
      </p>`
    }
    ${pins?.messages?.length === 0 && html`<${EmptyState} icon="pin">${t("no-pins")}<//>`}
    <ul class="message-lines">
      ${pins?.messages?.map(
        (message) =>
          html`<${MessageLine} key=${message.id} message=${message} onOpen=${() => goTo(message)} />`,
      )}
    </ul>
  <//>`;
}
