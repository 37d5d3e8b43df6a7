// What may be done about a member, as items of a menu: beside them in the list of members, in a call, and on their
// profile.

import { may } from "../../state/channels.js";
import { endTimeout } from "../../state/managing/moderation.js";
import { mayGiveRolesTo, ranksBelow } from "../../state/managing/rank.js";
import { tried } from "../../state/notices.js";
import { showDialog } from "../../state/place.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { MenuButton } from "../parts/menu.js";

/** Items as MenuButton takes them. */
export function memberItems(member) {
  const { id } = member;
  const below = ranksBelow(member);
  const timedOut = member.timeout_until_ms > Date.now();
  const act = (name, icon, danger = false) => ({ label: t(`moderate-${name}`), icon, danger, onChoose: () => showDialog("moderate", { memberId: id, act: name }) });
  return [
    mayGiveRolesTo(member) && { label: t("change-roles"), icon: "people", onChoose: () => showDialog("member-roles", { memberId: id }) },
    below && may("manage_nicknames") && act("rename", "edit"),
    may("view_reports") && { label: t("moderation-history"), icon: "file", onChoose: () => showDialog("moderation-history", { memberId: id }) },
    below && may("timeout_members") && (timedOut ? { label: t("end-timeout"), icon: "bell", onChoose: () => tried(endTimeout(id)) } : act("timeout", "bell-off")),
    below && may("kick_members") && act("kick", "close", true),
    below && may("ban_members") && act("ban", "trash", true),
  ].filter(Boolean);
}

export function MemberMenu({ member, more = [], ...rest }) {
  const items = [...more, ...memberItems(member)].filter(Boolean);
  return items.length ? html`<${MenuButton} label=${t("menu-of", { name: member.nickname })} items=${items} ...${rest} />` : null;
}
