// Lists all roles in the settings, highest first. An editor replaces the list while a role is open.

/** @import { Role } from "../../types/api.js" */
/** @import { Attributes } from "./drag_and_drop.js" */

import { rolesBelow } from "../../state/admin/role_rank.js";
import { mayStep, indexOfRole, moveRoleTo } from "../../state/admin/roles.js";
import { tryOrNotify } from "../../state/notices.js";
import { colourOf, complete, loadMembers, members, roleName, roles } from "../../state/people.js";
import { connection } from "../../state/server.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { ListPage, Row, useGone } from "./parts/list_page.js";
import { RoleEditor } from "./role_editor.js";
import { Button, IconButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { t } from "../../words/words.js";

const KIND = "application/x-svc-role"; // No other drop target accepts this type.

/** @typedef {{id: string, over?: string} | null} Drag The dragged role and the role under the pointer. */

export function RolesPage() {
  const [open, setOpen] = useState(/** @type {string | null} */ (null));
  const [made, setMade] = useState(/** @type {string | null} */ (null));
  const [drag, setDrag] = useState(/** @type {Drag} */ (null));
  useEffect(() => {
    loadMembers().catch(() => {});
  }, [connection.value === "online"]);
  const role = roles.value.find(({ id }) => id === open);
  const close = () => {
    setOpen(null);
    setMade(null);
  };
  useGone(
    !open || open === "new" || open === made || role,
    role && roleName(role),
    (name) => t("role-was-deleted", { name }),
    close,
  );
  if (role || open === "new")
    return html`<${RoleEditor}
      key=${open}
      role=${role ?? null}
      isNew=${role?.id === made}
      onDone=${close}
      onMade=${(/** @type {string} */ id) => {
        setMade(id);
        setOpen(id);
      }}
    />`;
  return html`<${ListPage}
    label=${t("roles")}
    about=${t("roles-about")}
    keys=${t("roles-keys")}
    items=${roles.value}
    empty=""
    row=${(/** @type {Role} */ role) =>
      html`<${Ranked}
        key=${role.id}
        role=${role}
        drag=${drag}
        onDrag=${setDrag}
        onOpen=${() => setOpen(role.id)}
      />`}
  >
    <p><${Button} look="primary" icon="add" onClick=${() => setOpen("new")}>${t("create-role")}<//></p>
  <//>`;
}

/** @param {{role: Role, onOpen: () => void, drag: Drag, onDrag: (drag: Drag) => void}} props */
function Ranked({ role, onOpen, drag, onDrag }) {
  const { id } = role;
  const name = roleName(role);
  const mine = rolesBelow().includes(role);
  const count = [...members.value.values()].filter((member) => member.roles.includes(id)).length;
  const focused = useRef(/** @type {Element | null} */ (null));
  const step = (/** @type {1 | -1} */ by) => {
    focused.current = document.activeElement;
    if (mayStep(id, by)) tryOrNotify(moveRoleTo(id, indexOfRole(id) + by));
  };
  // Restore the focus after the row has moved. At either end of the list, the clicked button is now disabled,
  // so focus the other button.
  useLayoutEffect(() => {
    const before = focused.current;
    focused.current = null;
    (before?.matches(":disabled") ? before.closest("li")?.querySelector("button:enabled") : before)?.focus();
  }, [role.rank]);
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    const by = /** @type {{[key: string]: 1 | -1}} */ ({ ArrowUp: -1, ArrowDown: 1 })[event.key];
    if (!by || !mine || !event.shiftKey || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    step(by);
  };
  const move = (/** @type {1 | -1} */ by) =>
    html`<${IconButton}
      icon=${by < 0 ? "up" : "lower"}
      label=${by < 0 ? t("move-up-named", { name }) : t("move-down-named", { name })}
      disabled=${!mayStep(id, by)}
      onClick=${() => step(by)}
    />`;
  return html`<${Row}
    title=${name}
    text=${complete.value ? t("role-held", { count }) : ""}
    sign=${html`<${Swatch} role=${role} />`}
    onKeyDown=${pressed}
    ...${mine ? dragged(id, drag, onDrag) : {}}
  >
    ${
      mine
        ? html`
            ${move(-1)}${move(1)}
            <${IconButton} icon="gear" label=${t("edit-named", { name })} onClick=${onOpen} />
          `
        : html`<span class="quiet" title=${t("role-above-you")}>
            <${Icon} name="lock" /><span class="unseen">${t("role-above-you")}</span>
          </span>`
    }
  <//>`;
}

/**
 * Return the attributes that let a role be moved by drag and drop.
 * @param {string} id
 * @param {Drag} drag
 * @param {(drag: Drag) => void} onDrag
 * @returns {Attributes}
 */
function dragged(id, drag, onDrag) {
  const moved = drag && drag.id !== id ? drag : null;
  return {
    draggable: true,
    "data-drop":
      drag?.over === id ? (indexOfRole(drag.id) < indexOfRole(id) ? "after" : "before") : undefined,
    onDragStart: (event) => {
      event.dataTransfer.setData(KIND, id);
      event.dataTransfer.effectAllowed = "move";
      onDrag({ id });
    },
    onDragOver: (event) => {
      if (!moved) return;
      event.preventDefault();
      if (moved.over !== id) onDrag({ ...moved, over: id });
    },
    onDrop: (event) => {
      if (!moved) return;
      event.preventDefault();
      onDrag(null);
      tryOrNotify(moveRoleTo(moved.id, indexOfRole(id)));
    },
    onDragEnd: () => onDrag(null),
  };
}

/** @param {{role: Role}} props */
export function Swatch({ role }) {
  return html`<span class="swatch" style=${{ "--role": colourOf(role) }} aria-hidden="true"></span>`;
}
