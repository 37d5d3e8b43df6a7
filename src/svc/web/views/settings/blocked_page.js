// Lists the members whom the user has blocked, with buttons to unblock them.

import { tryOrNotify } from "../../state/notices.js";
import { blocked, memberOf, unblock } from "../../state/people.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Avatar } from "../parts/avatar.js";
import { Button } from "../parts/button.js";

export function BlockedPage() {
  const ids = [...blocked.value];
  return html`
    <p>${t("blocked-text")}</p>
    ${!ids.length && html`<p class="quiet">${t("nobody-blocked")}</p>`}
    <ul class="rows" aria-label=${t("settings-blocked")}>
      ${ids.map((id) => html`<${Blocked} key=${id} id=${id} />`)}
    </ul>
  `;
}

/** @param {{id: string}} props */
function Blocked({ id }) {
  const member = memberOf(id);
  const name = member?.nickname ?? t("member-gone");
  return html`<li>
    <${Avatar} id=${id} name=${name} url=${member?.avatar} />
    <span class="row-text"><strong dir="auto">${name}</strong></span>
    <${Button} onClick=${() => tryOrNotify(unblock(id))} aria-label=${t("unblock", { name })}>
      ${t("unblock-short")}
    <//>
  </li>`;
}
