// Oneself, in the corner: name, picture, and the way to one's settings.

import { tried } from "../../state/notices.js";
import { ownQuiet, setQuiet } from "../../state/people.js";
import { showDialog } from "../../state/place.js";
import { connection, member } from "../../state/server.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Avatar } from "../parts/avatar.js";
import { IconButton } from "../parts/button.js";
import { MenuButton } from "../parts/menu.js";

export function OwnCorner() {
  const { id, nickname, avatar, status_text: status } = member.value;
  const quiet = ownQuiet.value;
  const presence = connection.value !== "online" ? "away" : quiet ? "quiet" : "online";
  return html`<footer class="own-corner">
    <button type="button" class="who-am-i" onClick=${() => showDialog("settings", { page: "profile" })}>
      <${Avatar} id=${id} name=${nickname} url=${avatar} presence=${presence} />
      <span class="who"><span id="own-name" dir="auto">${nickname}</span>${quiet ? html`<small class="quiet">${t("is-quiet")}</small>` : status && html`<small class="quiet" dir="auto">${status}</small>`}</span>
    </button>
    <${MenuButton} icon=${quiet ? "quiet" : "seen"} class=${quiet ? "urgent" : ""} label=${t("own-presence", { state: t(`is-${presence}`) })} items=${[
      { label: t("is-online"), checked: !quiet, onChoose: () => tried(setQuiet(false)) },
      { label: t("is-quiet"), checked: quiet, onChoose: () => tried(setQuiet(true)) },
    ]} />
    <${IconButton} icon="gear" label=${t("settings")} onClick=${() => showDialog("settings")} />
  </footer>`;
}
