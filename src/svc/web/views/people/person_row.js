// A member in a dialog's list: their avatar and name, linked to the profile.

/** @import { ComponentChildren } from "../../vendor/preact.js" */

import { memberOf, presenceOf } from "../../state/people.js";
import { showDialog } from "../../state/navigation.js";
import { member } from "../../state/server.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Avatar } from "../parts/avatar.js";

/** `children` are additional actions. @param {{id: string, children?: ComponentChildren}} props */
export function PersonRow({ id, children }) {
  const person = memberOf(id);
  const name = person?.nickname ?? t("somebody");
  return html`<li>
    <button type="button" class="person-row" onClick=${() => showDialog("profile", { memberId: id })}>
      <${Avatar} id=${id} name=${name} url=${person?.avatar} presence=${presenceOf(id)} size="small" />
      <span dir="auto">${id === member.value?.id ? t("name-you", { name }) : name}</span>
    </button>${children}
  </li>`;
}
