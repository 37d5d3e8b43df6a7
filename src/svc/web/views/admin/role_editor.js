// Edits one role: its name, colour, permissions and members.

/** @import { Role } from "../../types/api.js" */
/** @import { Permission } from "../../types/wire.js" */
/** @import { RefObject } from "../../vendor/preact.js" */

import { hasPermission } from "../../state/channels.js";
import { createRole, deleteRole, editRole, giveRole, takeRole } from "../../state/admin/roles.js";
import { GROUPS } from "../../state/admin/permissions.js";
import { isOwner } from "../../state/admin/role_rank.js";
import { notify, tryOrNotify } from "../../state/notices.js";
import { complete, members, roleName } from "../../state/people.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { SaveBar } from "../parts/save_bar.js";
import { ColourChoice } from "./colour_choice.js";
import { useFormRequest } from "./parts/form_request.js";
import { BackToList } from "./parts/list_page.js";
import { PermissionSwitch } from "./parts/permission.js";
import { Chips, Pick } from "./parts/picker.js";

/** @type {Pick<Role, "name" | "color" | "permissions">} */
const NEW = { name: "", color: null, permissions: [] };

/**
 * `role` is null until the role is created. `isNew` means that the role has just been created.
 * @param {{role: Role | null, isNew?: boolean, onDone: () => void, onMade: (id: string) => void}} props
 */
export function RoleEditor({ role, isNew = false, onDone, onMade }) {
  const [changes, setChanges] = useState(/** @type {Partial<Role>} */ ({}));
  // Keep only the changed permissions, because somebody else may change others in the meantime.
  const [switched, setSwitched] = useState(/** @type {{[name in Permission]?: boolean}} */ ({}));
  const [ending, setEnding] = useState(false);
  const { problem, setProblem, get } = useFormRequest();
  /** @type {RefObject<HTMLElement>} */
  const start = useRef(null);
  /** @type {RefObject<HTMLElement>} */
  const holders = useRef(null);
  // After creating a role, managers usually give it to somebody.
  useLayoutEffect(() => {
    (isNew && role ? holders : start).current.querySelector("input")?.focus();
  }, []);
  const shownName = role ? roleName(role) : NEW.name;
  const before = role?.permissions ?? NEW.permissions;
  const permissions = [
    ...before.filter((permission) => switched[permission] !== false),
    .../** @type {Permission[]} */ (Object.keys(switched)).filter(
      (permission) => switched[permission] && !before.includes(permission),
    ),
  ];
  const now = { ...(role ?? NEW), name: shownName, ...changes, permissions };
  const different = { ...changes, ...(Object.keys(switched).length && { permissions }) };
  const change = (/** @type {Partial<Role>} */ wanted) => setChanges({ ...changes, ...wanted });
  const discard = () => {
    setChanges({});
    setSwitched({});
  };
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!now.name.trim()) {
      setProblem(t("role-name-missing"));
      return;
    }
    const made = await get(() =>
      role
        ? editRole(role.id, different)
        : createRole({
            name: now.name.trim(),
            permissions: now.permissions,
            ...(now.color !== null && { color: now.color }),
          }),
    );
    if (!made) return;
    discard();
    notify(t("saved"), "done");
    if (!role) onMade(made.id);
  };
  return html`
    <${BackToList} onBack=${onDone}>${t("all-roles")}<//>
    <form class="stack" onSubmit=${save} novalidate ref=${start}>
      <${Field}
        label=${t("role-name")}
        value=${now.name}
        maxlength="32"
        onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) =>
          change({ name: event.currentTarget.value })}
        problem=${problem}
        autocomplete="off"
      />
      <${ColourChoice}
        value=${now.color}
        onChange=${(/** @type {number | null} */ color) => change({ color })}
      />
      ${GROUPS.map(
        ({ name, permissions }) => html`<fieldset key=${name} class="permissions">
          <legend>${t(`permissions-${name}`)}</legend>
          ${permissions.map(
            (permission) =>
              html`<${PermissionSwitch}
                key=${permission}
                name=${permission}
                checked=${now.permissions.includes(permission)}
                disabled=${!isOwner() && !hasPermission(permission)}
                onChange=${(/** @type {boolean} */ on) => setSwitched({ ...switched, [permission]: on })}
              />`,
          )}
        </fieldset>`,
      )}
      ${!role && html`<${SaveBar} action=${t("create-role")} />`}
      ${role && Object.keys(different).length > 0 && html`<${SaveBar} onDiscard=${discard} />`}
    </form>
    ${role && role.id !== "member" && html`<${Holders} role=${role} box=${holders} />`}
    ${
      role &&
      !role.built_in &&
      html`<section class="ending">
        <${Button} look="danger" onClick=${() => setEnding(true)}>${t("delete-role")}<//>
      </section>`
    }
    ${
      ending &&
      role &&
      html`<${Confirm}
        title=${t("delete-role-title", { name: shownName })}
        text=${t("delete-role-text")}
        action=${t("delete-role")}
        onConfirm=${() => tryOrNotify(deleteRole(role.id))}
        onClose=${() => setEnding(false)}
      />`
    }
  `;
}

/**
 * The members who have the role, with controls to add and remove members.
 * @param {{role: Role, box: RefObject<HTMLElement>}} props
 */
function Holders({ role, box }) {
  const keys = [...members.value.values()]
    .filter((member) => member.roles.includes(role.id))
    .map(({ id }) => `member:${id}`);
  const idOf = (/** @type {string} */ key) => key.slice("member:".length);
  return html`<section class="ending stack role-holders" ref=${box}>
    <h4>${t("role-holders")}</h4>
    <${Pick}
      label=${t("give-role-to")}
      only="member"
      chosen=${keys}
      onPick=${(/** @type {string} */ key) => tryOrNotify(giveRole(idOf(key), role.id))}
    />
    ${
      keys.length
        ? html`<${Chips}
            label=${t("role-holders")}
            keys=${keys}
            onRemove=${(/** @type {string} */ key) => tryOrNotify(takeRole(idOf(key), role.id))}
          />`
        : html`<p class="quiet">${complete.value ? t("role-held-by-none") : t("loading")}</p>`
    }
  </section>`;
}
