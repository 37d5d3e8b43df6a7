// Shows the audit log in the settings: one sentence per entry, newest first, filtered by actor, target and
// action.

/** @import { AuditEntry } from "../../types/api.js" */

import { ACTIONS, auditPage } from "../../state/admin/audit.js";
import { tryOrNotify } from "../../state/notices.js";
import { html, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Entry } from "./audit_words.js";
import { useResponse } from "./parts/form_request.js";
import { ListPage } from "./parts/list_page.js";
import { Chips, Pick } from "./parts/picker.js";

const NOTHING = { actor: "", target: "", action: "" };
const idOf = (/** @type {string} */ key) => key.slice("member:".length);

export function AuditPage() {
  const [wanted, setWanted] = useState(NOTHING);
  const { value, problem, set, again } = useResponse(() => auditPage(wanted), [wanted]);
  const want = (/** @type {Partial<typeof NOTHING>} */ changes) => setWanted({ ...wanted, ...changes });
  const further = () =>
    value &&
    tryOrNotify(
      auditPage(wanted, value.next).then((page) =>
        set({ entries: [...value.entries, ...page.entries], next: page.next }),
      ),
    );
  return html`<${ListPage}
    label=${t("settings-audit")}
    about=${t("audit-about")}
    items=${value?.entries ?? null}
    problem=${problem}
    again=${again}
    empty=${t("no-audit")}
    more=${value?.next && further}
    row=${(/** @type {AuditEntry} */ entry) => html`<${Entry} key=${entry.id} entry=${entry} />`}
  >
    <div class="filter-row">
      <${Person}
        label=${t("audit-by")}
        id=${wanted.actor}
        onChange=${(/** @type {string} */ actor) => want({ actor })}
      />
      <${Person}
        label=${t("audit-to")}
        id=${wanted.target}
        onChange=${(/** @type {string} */ target) => want({ target })}
      />
      <label class="field">
        ${t("audit-what")}
        <select onChange=${(/** @type {EventOn<HTMLSelectElement>} */ event) =>
          want({ action: event.currentTarget.value })}>
          <option value="">${t("audit-everything")}</option>
          ${Object.entries(ACTIONS).map(
            ([group, actions]) =>
              html`<optgroup key=${group} label=${t(`audit-group-${group}`)}>
                ${actions.map(
                  (action) =>
                    html`<option key=${action} value=${action}>
                      ${t(`act-${action.replaceAll("_", "-")}`)}
                    </option>`,
                )}
              </optgroup>`,
          )}
        </select>
      </label>
    </div>
  <//>`;
}

/** @param {{label: string, id: string, onChange: (id: string) => void}} props */
function Person({ label, id, onChange }) {
  if (id)
    return html`<div class="field">
      <span>${label}</span>
      <${Chips} label=${label} keys=${[`member:${id}`]} onRemove=${() => onChange("")} />
    </div>`;
  return html`<${Pick}
    label=${label}
    only="member"
    chosen=${[]}
    onPick=${(/** @type {string} */ key) => onChange(idOf(key))}
  />`;
}
