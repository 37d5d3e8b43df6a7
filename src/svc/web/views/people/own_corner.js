// Oneself, in the corner: name, picture, and the way to one's settings.

import { showDialog } from "../../state/place.js";
import { connection, member } from "../../state/server.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Avatar } from "../parts/avatar.js";
import { IconButton } from "../parts/button.js";

export function OwnCorner() {
  const { id, nickname, avatar, status_text: status } = member.value;
  return html`<footer class="own-corner">
    <button type="button" class="who-am-i" onClick=${() => showDialog("settings", { page: "profile" })}>
      <${Avatar} id=${id} name=${nickname} url=${avatar} presence=${connection.value === "online"} />
      <span class="who"><span id="own-name" dir="auto">${nickname}</span>${status && html`<small class="quiet" dir="auto">${status}</small>`}</span>
    </button>
    <${IconButton} icon="gear" label=${t("settings")} onClick=${() => showDialog("settings")} />
  </footer>`;
}
