// Renders a channel's menu in the channel list and handles the keys that move the channel. Other features can
// add items to the menu.

/** @import { Channel } from "../../types/api.js" */
/** @import { ItemList } from "../parts/menu.js" */

import { stepped } from "../../state/admin/channel_order.js";
import { channels, hasPermission } from "../../state/channels.js";
import { showDialog } from "../../state/navigation.js";
import { notify, tryOrNotify } from "../../state/notices.js";
import { html } from "../../vendor/preact.js";
import { notificationItems } from "../alerts/level_menu.js";
import { MenuButton, openWhere } from "../parts/menu.js";
import { t } from "../../words/words.js";

/** Functions that return items for a channel's menu. @type {((channel: Channel) => ItemList)[]} */
export const CHANNEL_ITEMS = [notificationItems, managing];

/** @param {{channel: Channel}} props */
export function ChannelMenu({ channel }) {
  // The items depend on unread counts and on all channels, so build them only when the menu opens.
  const items = () => CHANNEL_ITEMS.flatMap((item) => item(channel));
  return channel.type === "text" || hasPermission("manage_channels")
    ? html`<${MenuButton} label=${t("menu-of", { name: channel.name })} items=${items} />`
    : null;
}

/** Open the menu on right-click. @param {EventOn<HTMLElement, MouseEvent>} event */
export function openMenuIn(event) {
  const button = /** @type {HTMLElement | null} */ (
    event.currentTarget.querySelector(
      ":scope > :is(.channel-row, .row-actions) .menu-holder > button, :scope > .menu-holder > button",
    )
  );
  if (button) openWhere(event, button);
}

/**
 * Move the channel one position on Ctrl+Shift+Arrow.
 * @param {KeyboardEvent} event
 * @param {Channel} channel
 */
export function onMoveKey(event, channel) {
  const by = /** @type {{[key: string]: 1 | -1}} */ ({ ArrowUp: -1, ArrowDown: 1 })[event.key];
  if (!by || !(event.ctrlKey || event.metaKey) || !event.shiftKey || !hasPermission("manage_channels"))
    return;
  event.preventDefault();
  event.stopPropagation();
  step(channel, by);
}

/**
 * Move the channel one position up (-1) or down (1) and keep the focus.
 * @param {Channel} channel
 * @param {1 | -1} by
 */
export async function step(channel, by) {
  const where = stepped(channels.value, channel.id, by);
  const focused = document.activeElement;
  if (!where) return;
  const moves = await import("../../state/admin/channel_moves.js").catch(() =>
    notify(t("error-unreachable")),
  );
  if (!moves) return;
  const done = tryOrNotify(moves.moveChannel(channel.id, where));
  requestAnimationFrame(() => (focused?.isConnected ? focused.focus() : undefined));
  await done;
}

/** @param {Channel} channel @returns {ItemList} */
function managing(channel) {
  if (!hasPermission("manage_channels")) return [];
  const { id } = channel;
  return [
    { label: t("edit-channel"), icon: "gear", onChoose: () => showDialog("channel", { channelId: id }) },
    {
      label: t("channel-permissions"),
      icon: "people",
      onChoose: () => showDialog("channel", { channelId: id, page: "permissions" }),
    },
    stepped(channels.value, id, -1) && { label: t("move-up"), icon: "up", onChoose: () => step(channel, -1) },
    stepped(channels.value, id, 1) && {
      label: t("move-down"),
      icon: "lower",
      onChoose: () => step(channel, 1),
    },
    {
      label: t("channel-delete"),
      icon: "trash",
      danger: true,
      onChoose: () => showDialog("delete-channel", { channelId: id }),
    },
  ];
}
