// A note that a member joined or left a private conversation, and with which devices: people should look at
// new devices.

/** @import { Noted } from "../../state/private_conversations.js" */

import { memberOf } from "../../state/people.js";
import { member } from "../../state/server.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Icon } from "../parts/icon.js";

const WARNINGS = ["new-device", "own-device", "differs", "foreign", "forked"];

/** @param {string} [memberId] */
const nameOf = (memberId) => (memberId && memberOf(memberId)?.nickname) || t("somebody");

/** @param {{note: Noted["note"]}} props */
export function Note({ note }) {
  return html`<li class="private-notes">${note.map(({ what, memberId, by }) => {
    const kind = what === "new-device" && memberId === member.value?.id ? "own-device" : what;
    const warns = WARNINGS.includes(kind);
    return html`<p key=${`${what} ${memberId}`} class=${warns ? "warning" : ""}>
      <${Icon} name=${warns ? "flag" : "people"} />
      <span dir="auto">${t(`private-${kind}`, { name: nameOf(memberId), by: nameOf(by) })}</span>
    </p>`;
  })}</li>`;
}
