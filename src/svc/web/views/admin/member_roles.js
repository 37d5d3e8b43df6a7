// Shows the dialog that adds and removes a member's roles.

/** @import { Role } from "../../types/api.js" */

import { giveRole, takeRole } from "../../state/admin/roles.js";
import { isOwner, rolesBelow } from "../../state/admin/role_rank.js";
import { hasPermission } from "../../state/channels.js";
import { tryOrNotify } from "../../state/notices.js";
import { memberOf, roleName } from "../../state/people.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Dialog } from "../parts/dialog.js";
import { Switch } from "../parts/field.js";
import { permissionName } from "./parts/permission.js";

const MAX_NAMED = 4;

/** @param {{memberId: string, onClose: () => void}} props */
export function MemberRoles({ memberId, onClose }) {
  const member = memberOf(memberId);
  if (!member)
    return html`<${Dialog} title=${t("roles")} onClose=${onClose}>
      <p class="quiet">${t("member-unknown")}</p>
    <//>`;
  const change = (/** @type {Role} */ role, /** @type {boolean} */ on) =>
    tryOrNotify(on ? giveRole(memberId, role.id) : takeRole(memberId, role.id));
  return html`<${Dialog} title=${t("roles-of", { name: member.nickname })} onClose=${onClose}>
    <div class="role-switches">${rolesBelow().map(
      (role) => html`<${Switch}
        key=${role.id}
        label=${html`<span dir="auto">${roleName(role)}</span>`}
        hint=${permitting(role)}
        checked=${member.roles.includes(role.id)}
        disabled=${!member.roles.includes(role.id) && !canGive(role)}
        onChange=${(/** @type {boolean} */ on) => change(role, on)}
      />`,
    )}</div>
  <//>`;
}

/**
 * Return whether the current user can give this role. Only the owner can give permissions that they lack
 * themselves.
 * @param {Role} role
 */
const canGive = (role) => isOwner() || role.permissions.every((permission) => hasPermission(permission));

/** @param {Role} role */
function permitting({ permissions }) {
  const names = permissions.slice(0, MAX_NAMED).map(permissionName);
  return permissions.length > MAX_NAMED
    ? t("and-more-permissions", { names: names.join(", "), count: permissions.length - MAX_NAMED })
    : names.join(", ");
}
