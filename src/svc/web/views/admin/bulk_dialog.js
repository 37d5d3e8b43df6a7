// Shows the dialog for an action on several members: first the affected and exempt members, then the results.

/** @import { Act } from "../../state/admin/members.js" */
/** @import { Member } from "../../types/api.js" */

import { applyToEach, obstacle } from "../../state/admin/members.js";
import { ban, kick, timeOut } from "../../state/admin/moderation.js";
import { rolesBelow } from "../../state/admin/role_rank.js";
import { giveRole, takeRole } from "../../state/admin/roles.js";
import { notify } from "../../state/notices.js";
import { roleName } from "../../state/people.js";
import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { Avatar } from "../parts/avatar.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { formatDuration } from "../parts/time.js";
import { Among } from "./channel_overview.js";
import { DELETED_S, deleting, TIMEOUTS_S } from "./moderate_dialog.js";

/**
 * `onDone` receives the members for whom the action succeeded.
 * @param {{act: Act, people: Member[], onDone: (done: Member[]) => void, onClose: () => void}} props
 */
export function BulkDialog({ act, people, onDone, onClose }) {
  const [form, setForm] = useState({
    roleId: rolesBelow().find(({ id }) => id !== "member")?.id,
    seconds: 3600,
    deleted: 0,
    reason: "",
  });
  const [chosen] = useState(people); // A copy, because members leave the list once the action is applied.
  const [run, setRun] = useState(
    /** @type {{done: number, of: number} | {refused: {member: Member, error: unknown}[]} | null} */ (null),
  );
  const going = useRef(true);
  useEffect(
    () => () => {
      going.current = false;
    },
    [],
  );
  /** @template {keyof typeof form} K @param {K} key */
  const set = (key) => (/** @type {typeof form[K]} */ value) => setForm({ ...form, [key]: value });
  const role = rolesBelow().find(({ id }) => id === form.roleId) ?? null;
  const withRole = act === "give" || act === "take";
  const sorted = chosen.map((member) => ({ member, why: obstacle(act, member, role) }));
  const meant = sorted.filter(({ why }) => !why).map(({ member }) => member);
  const left = sorted.filter(({ why }) => why);
  const reason = form.reason.trim();
  /** @type {{[act in Act]: (member: Member) => Promise<unknown>}} */
  const acts = {
    give: ({ id }) => giveRole(id, role?.id ?? ""),
    take: ({ id }) => takeRole(id, role?.id ?? ""),
    timeout: ({ id }) => timeOut(id, form.seconds, reason),
    kick: ({ id }) => kick(id, reason),
    ban: ({ id }) => ban(id, reason, form.deleted),
  };
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (run || !meant.length) return;
    setRun({ done: 0, of: meant.length });
    const { done, refused } = await applyToEach(meant, acts[act], (count) => {
      if (going.current) setRun({ done: count, of: meant.length });
      return going.current;
    });
    onDone(done);
    if (done.length)
      notify(t(`bulk-${act}-done`, { count: done.length, role: role ? roleName(role) : "" }), "done");
    if (refused.length && going.current) setRun({ refused });
    else onClose();
  };
  const count = meant.length;
  const title = t(`bulk-${act}-title`, { count, role: role ? roleName(role) : "" });
  if (run && "refused" in run)
    return html`<${Dialog} title=${t("bulk-refused-title", { count: run.refused.length })} onClose=${onClose}>
      <${People}
        label=${t("bulk-refused")}
        all=${run.refused.map(({ member, error }) => ({ member, why: explain(error) }))}
      />
      <footer class="buttons">
        <${Button} look="primary" onClick=${onClose} autofocus>${t("close")}<//>
      </footer>
    <//>`;
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <form class="stack" onSubmit=${submit} novalidate>
      ${!withRole && html`<p class="quiet">${t(`moderate-${act}-text`)}</p>`}
      ${
        withRole &&
        html`<label class="field">
          ${t("filter-role")}
          <select onChange=${(/** @type {EventOn<HTMLSelectElement>} */ event) =>
            set("roleId")(event.currentTarget.value)}>
            ${rolesBelow()
              .filter(({ id }) => id !== "member")
              .map(
                (role) =>
                  html`<option key=${role.id} value=${role.id} selected=${role.id === form.roleId}>
                    ${roleName(role)}
                  </option>`,
              )}
          </select>
        </label>`
      }
      ${
        act === "timeout" &&
        html`<${Among}
          label=${t("timeout-for")}
          value=${form.seconds}
          all=${TIMEOUTS_S}
          words=${formatDuration}
          onChange=${set("seconds")}
        />`
      }
      ${
        act === "ban" &&
        html`<${Among}
          label=${t("ban-deletes")}
          value=${form.deleted}
          all=${DELETED_S}
          words=${deleting}
          onChange=${set("deleted")}
        />`
      }
      ${
        !withRole &&
        html`<${Field}
          label=${t("reason")}
          hint=${t("reason-hint")}
          value=${form.reason}
          maxlength="500"
          onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) =>
            set("reason")(event.currentTarget.value)}
          autocomplete="off"
        />`
      }
      <${People} label=${t("bulk-meant", { count })} all=${meant.map((member) => ({ member }))} />
      <${People}
        label=${t("bulk-left-out", { count: left.length })}
        all=${left.map(({ member, why }) => ({ member, why: t(`bulk-why-${why}`) }))}
      />
      ${
        run &&
        html`<label class="field" role="status">
          ${t("bulk-progress", run)}<progress max=${run.of} value=${run.done}></progress>
        </label>`
      }
      <footer class="buttons">
        <${Button} onClick=${onClose}>${t("cancel")}<//>
        <${Button}
          look=${act === "kick" || act === "ban" ? "danger" : "primary"}
          type="submit"
          disabled=${Boolean(run) || !count || (withRole && !role)}
        >
          ${t(`bulk-${act}-act`, { count })}
        <//>
      </footer>
    </form>
  <//>`;
}

/** @param {{label: string, all: {member: Member, why?: string}[]}} props */
function People({ label, all }) {
  if (!all.length) return null;
  return html`<section class="bulk-people" aria-label=${label}>
    <h3>${label}</h3>
    <ul class="chips">${all.map(
      ({ member: { id, nickname, avatar }, why }) => html`<li key=${id}>
        <${Avatar} id=${id} name=${nickname} url=${avatar} size="small" />
        <span dir="auto">${nickname}</span>
        ${why && html`<small class="quiet">${why}</small>`}
      </li>`,
    )}</ul>
  </section>`;
}
