// Renders the server's name and its menu.

/** @import { ItemList } from "../parts/menu.js" */

import { hasPermission, textChannels } from "../../state/channels.js";
import { isOwner, MANAGING } from "../../state/admin/role_rank.js";
import { showDialog } from "../../state/navigation.js";
import { info } from "../../state/server.js";
import { readAll, totals } from "../../state/unread_counts.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Icon } from "../parts/icon.js";
import { MenuButton, openWhere } from "../parts/menu.js";

export function ServerMenu() {
  const name = info.value?.name || t("this-server");
  return html`<h2 title=${name}>
    <${MenuButton} label=${t("menu-of", { name })} class="server-name" items=${items}>
      <span dir="auto">${name}</span>
      <${Icon} name="lower" />
    <//>
  </h2>`;
}

/** Open the menu on right-click. @param {EventOn<HTMLElement, MouseEvent>} event */
export const openServerMenu = (event) =>
  openWhere(event, /** @type {HTMLElement} */ (event.currentTarget.querySelector(".server-name")));

/** @param {string} page */
const settings = (page) => () => showDialog("settings", { page });

/** @returns {ItemList} */
const items = () => [
  { heading: info.value?.name || t("this-server") }, // The full name. The sidebar may cut it off.
  hasPermission("create_invites") && {
    label: t("invite-people"),
    icon: "invite",
    onChoose: () => showDialog("invite"),
  },
  hasPermission("manage_channels") && {
    label: t("create-channel"),
    icon: "add",
    onChoose: () => showDialog("create-channel"),
  },
  (isOwner() || MANAGING.some((permission) => hasPermission(permission))) && {
    label: t("server-settings"),
    icon: "gear",
    onChoose: settings(isOwner() ? "server" : "members"),
  },
  totals.value.unread > 0 && {
    label: t("shortcut-all-read"),
    icon: "check",
    onChoose: () => readAll(textChannels.value.map(({ id }) => id)),
  },
  { label: t("settings-notifications"), icon: "bell", onChoose: settings("notifications") },
  !isOwner() && { label: t("leave-server"), icon: "sign-out", danger: true, onChoose: settings("data") },
];
