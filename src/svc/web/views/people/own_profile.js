// Renders the user's corner of the sidebar: their name and avatar, which open the presence menu, and the
// settings button.

import { tryOrNotify } from "../../state/notices.js";
import { setPresence, ownInvisible, ownQuiet } from "../../state/people.js";
import { showDialog } from "../../state/navigation.js";
import { connection, member } from "../../state/server.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Avatar } from "../parts/avatar.js";
import { IconButton } from "../parts/button.js";
import { MenuButton } from "../parts/menu.js";

const ICONS = /** @type {const} */ ({ online: "seen", quiet: "quiet", invisible: "unseen" });
const HOWS = /** @type {(keyof typeof ICONS)[]} */ (Object.keys(ICONS));

export function OwnCorner() {
  if (!member.value) return null;
  const { id, nickname, avatar, status_text: status } = member.value;
  const chosen = ownInvisible.value ? "invisible" : ownQuiet.value ? "quiet" : "online";
  const presence = connection.value === "online" ? chosen : "away";
  const state = t("own-presence", { state: t(`is-${presence}`) });
  return html`<footer class="own-corner">
    <${MenuButton}
      class="who-am-i"
      label=${state}
      items=${[
        ...HOWS.map((how) => ({
          label: t(`is-${how}`),
          icon: ICONS[how],
          checked: how === chosen,
          onChoose: () => tryOrNotify(setPresence(how)),
        })),
        { label: t("set-status"), icon: "edit", onChoose: () => showDialog("settings", { page: "profile" }) },
      ]}
    >
      <${Avatar} id=${id} name=${nickname} url=${avatar} presence=${presence} />
      <span class="who">
        <span id="own-name" dir="auto">${nickname}</span>
        ${
          chosen !== "online"
            ? html`<small class="quiet">${t(`is-${chosen}`)}</small>`
            : status && html`<small class="quiet" dir="auto">${status}</small>`
        }
      </span>
      <span class="unseen">${state}</span>
    <//>
    <${IconButton} icon="gear" label=${t("settings")} onClick=${() => showDialog("settings")} />
  </footer>`;
}
