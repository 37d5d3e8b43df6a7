// Provides the moderation items of a member's menu in the member list, in calls and on the profile.

/** @import { Member } from "../../types/api.js" */
/** @import { IconName } from "../parts/icon.js" */
/** @import { ItemList } from "../parts/menu.js" */
/** @import { Act } from "./moderate_dialog.js" */

import { hasPermission } from "../../state/channels.js";
import { endTimeout } from "../../state/admin/moderation.js";
import { mayGiveRolesTo, ranksBelow } from "../../state/admin/role_rank.js";
import { tryOrNotify } from "../../state/notices.js";
import { showDialog } from "../../state/navigation.js";
import { writeTo } from "../../state/private_client.js";
import { mayWriteTo } from "../../state/private_conversations.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { MenuButton } from "../parts/menu.js";

/** @param {Member} member @returns {ItemList} */
export const memberItems = (member) =>
  /** @type {ItemList} */ ([
    hasPermission("send_messages") &&
      mayWriteTo(member) && {
        label: t("private-message"),
        icon: "lock",
        onChoose: () => tryOrNotify(writeTo(member.id)),
      },
    hasPermission("view_reports") && {
      label: t("moderation-history"),
      icon: "file",
      onChoose: () => showDialog("moderation-history", { memberId: member.id }),
    },
    ...actItems(member),
  ]).filter(Boolean);

/**
 * Return the actions in the profile's menu. The profile has buttons for the others.
 * @param {Member} member
 * @returns {ItemList}
 */
export function actItems(member) {
  const { id } = member;
  const below = ranksBelow(member);
  const timedOut = (member.timeout_until_ms ?? 0) > Date.now();
  const act = (/** @type {Act} */ name, /** @type {IconName} */ icon, danger = false) => ({
    label: t(`moderate-${name}`),
    icon,
    danger,
    onChoose: () => showDialog("moderate", { memberId: id, act: name }),
  });
  return /** @type {ItemList} */ ([
    mayGiveRolesTo(member) && {
      label: t("change-roles"),
      icon: "people",
      onChoose: () => showDialog("member-roles", { memberId: id }),
    },
    below && hasPermission("manage_nicknames") && act("rename", "edit"),
    below &&
      hasPermission("timeout_members") &&
      (timedOut
        ? { label: t("end-timeout"), icon: "bell", onChoose: () => tryOrNotify(endTimeout(id)) }
        : act("timeout", "bell-off")),
    below && hasPermission("kick_members") && act("kick", "close", true),
    below && hasPermission("ban_members") && act("ban", "trash", true),
  ]).filter(Boolean);
}

/**
 * A button that opens a menu with the items in `more`, followed by the moderation items.
 * @param {{member: Member, more?: ItemList, items?: ItemList, [attribute: string]: unknown}} props
 */
export function MemberMenu({ member, more = [], items: about = memberItems(member), ...rest }) {
  const items = [...more, ...about].filter(Boolean);
  return items.length
    ? html`<${MenuButton} label=${t("menu-of", { name: member.nickname })} items=${items} ...${rest} />`
    : null;
}
