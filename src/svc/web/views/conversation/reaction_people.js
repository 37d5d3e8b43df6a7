// The people who reacted to a message, by reaction.

/** @import { Held, Shown } from "./message.js" */

import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Dialog } from "../parts/dialog.js";
import { PersonRow } from "../people/person_row.js";
import { Sign } from "./reactions.js";

/** @param {{message: Shown, conversation: Held, onClose: () => void}} props */
export function Reacted({ message, conversation, onClose }) {
  const held = conversation.messages.value.find(({ id }) => id === message.id);
  const { reactions } = held && "reactions" in held ? held : message;
  return html`<${Dialog} title=${t("reactions")} onClose=${onClose} class="reacted">
    ${!reactions.length && html`<p class="quiet">${t("no-reactions")}</p>`}
    ${reactions.map(
      ({ emoji, member_ids: ids }) => html`<section key=${emoji}>
        <h3>
          <${Sign} sign=${emoji} />
          <span class="quiet">${t("reaction-count", { count: ids.length })}</span>
        </h3>
        <ul class="person-rows">${ids.map((id) => html`<${PersonRow} key=${id} id=${id} />`)}</ul>
      </section>`,
    )}
  <//>`;
}
