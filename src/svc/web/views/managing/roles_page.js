// All roles in the settings, the highest first; the open one is changed in the same place.

import { mayStep, stepRole } from "../../state/managing/roles.js";
import { rolesBelow } from "../../state/managing/rank.js";
import { tried } from "../../state/notices.js";
import { colourOf, complete, loadMembers, members, roles } from "../../state/people.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button, IconButton } from "../parts/button.js";
import { roleName } from "../people/members.js";
import { ListPage, Row } from "./parts/list_page.js";
import { RoleEditor } from "./role_editor.js";

export function RolesPage({ roleId = null }) {
  const [open, setOpen] = useState(roleId);
  useEffect(() => { loadMembers().catch(() => {}); }, []);
  const role = roles.value.find(({ id }) => id === open);
  if (role || open === "new") return html`<${RoleEditor} key=${open} role=${role ?? null} onDone=${() => setOpen(null)} onMade=${setOpen} />`;
  return html`<${ListPage} label=${t("roles")} about=${t("roles-about")} items=${roles.value} empty="" row=${(each) => html`<${Ranked} key=${each.id} role=${each} onOpen=${() => setOpen(each.id)} />`}>
    <p><${Button} look="primary" icon="add" onClick=${() => setOpen("new")}>${t("create-role")}<//></p>
  <//>`;
}

function Ranked({ role, onOpen }) {
  const { id } = role;
  const name = roleName(role);
  const mine = rolesBelow().includes(role);
  const count = [...members.value.values()].filter((member) => member.roles.includes(id)).length;
  const move = (by) => html`<${IconButton} icon=${by < 0 ? "up" : "lower"} label=${by < 0 ? t("move-up-named", { name }) : t("move-down-named", { name })} disabled=${!mayStep(id, by)} onClick=${() => tried(stepRole(id, by))} />`;
  return html`<${Row} title=${name} text=${complete.value ? t("role-held", { count }) : ""} sign=${html`<${Swatch} role=${role} />`}>
    ${mine ? html`${move(-1)}${move(1)}<${IconButton} icon="gear" label=${t("edit-named", { name })} onClick=${onOpen} />` : html`<small class="quiet">${t("role-above-you")}</small>`}
  <//>`;
}

export function Swatch({ role }) {
  return html`<span class="swatch" style=${{ "--role": colourOf(role) }} aria-hidden="true"></span>`;
}
