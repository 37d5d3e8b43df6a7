// Renders a member's menu, which is opened by a right-click, a long press or a button.

/** @import { RefObject } from "../../vendor/preact.js" */
/** @import { ItemList } from "../parts/menu.js" */
/** @import { MenuRequest } from "./person_menu_trigger.js" */

import { notify, tryOrNotify } from "../../state/notices.js";
import { block, blocked, memberOf, unblock } from "../../state/people.js";
import { currentLocation, showDialog } from "../../state/navigation.js";
import { member as ownMember } from "../../state/server.js";
import { html, useRef } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { memberItems } from "../admin/member_menu.js";
import { Menu } from "../parts/menu.js";
import { mention } from "./profile.js";

/** @param {{opening: MenuRequest, onClose: () => void}} props */
export function PersonMenu({ opening: { id, name, opener, at }, onClose }) {
  /** @type {RefObject<HTMLElement>} */
  const holder = useRef(null);
  return html`<span class="menu-holder" ref=${holder}>
    <${Menu}
      label=${t("menu-of", { name })}
      items=${() => personItems(id, name)}
      holder=${holder}
      opener=${opener}
      at=${at}
      onClose=${onClose}
    />
  </span>`;
}

/**
 * Return the menu items for all actions on a member.
 * @param {string} id
 * @param {string} name
 * @returns {ItemList}
 */
export function personItems(id, name) {
  const member = memberOf(id);
  return [aboutAnybody(id, name), aboutOthers(id, name), member ? memberItems(member) : []].flatMap(
    ([first, ...rest]) => (first ? [{ ...first, apart: true }, ...rest] : rest),
  );
}

/** @param {string} id @param {string} name @returns {ItemList} */
const aboutAnybody = (id, name) => [
  { label: t("profile"), icon: "people", onChoose: () => showDialog("profile", { memberId: id }) },
  currentLocation.value?.channelId && {
    label: t("mention", { name }),
    icon: "reply",
    onChoose: () => mention(id, name),
  },
  { label: t("copy-id"), icon: "copy", onChoose: () => copy(id) },
];

/** @param {string} id @param {string} name @returns {ItemList} */
function aboutOthers(id, name) {
  if (id === ownMember.value?.id) return [];
  const isBlocked = blocked.value.has(id);
  return [
    {
      label: isBlocked ? t("unblock", { name }) : t("block", { name }),
      icon: "quiet",
      onChoose: () => tryOrNotify(isBlocked ? unblock(id) : block(id)),
    },
    { label: t("report-short"), icon: "flag", onChoose: () => showDialog("report", { memberId: id }) },
  ];
}

/** @param {string} text */
const copy = (text) =>
  navigator.clipboard.writeText(text).then(
    () => notify(t("copied"), "done"),
    () => notify(t("copy-failed")),
  );
