// Lists the automod rules in the settings, with their effects and a button for adding each kind of rule.

/** @import { Wanted } from "../../state/admin/automod_rules.js" */
/** @import { Rule } from "../../types/api.js" */

import { KINDS, loadRules, newRule, rules, saveRule } from "../../state/admin/automod_rules.js";
import { tryOrNotify } from "../../state/notices.js";
import { html, useState } from "../../vendor/preact.js";
import { useResponse } from "./parts/form_request.js";
import { ListPage, useGone } from "./parts/list_page.js";
import { RuleEditor } from "./rule_editor.js";
import { Button, IconButton } from "../parts/button.js";
import { Switch } from "../parts/field.js";
import { t } from "../../words/words.js";

export function RulesPage() {
  const { problem, again } = useResponse(loadRules);
  const [open, setOpen] = useState(/** @type {Wanted | null} */ (null));
  const done = () => setOpen(null);
  const theirs = rules.value?.find(({ id }) => id === open?.id);
  const present = !open?.id || theirs;
  useGone(present, open?.name, (name) => t("rule-was-deleted", { name }), done);
  if (open && present)
    return html`<${RuleEditor}
      key=${JSON.stringify(open)}
      rule=${open}
      theirs=${theirs}
      onTheirs=${() => setOpen(theirs ?? null)}
      onDone=${done}
    />`;
  // A rule must be tested before it is enabled, so open the editor.
  const toggle = (/** @type {Rule} */ rule, /** @type {boolean} */ on) =>
    on ? setOpen(rule) : tryOrNotify(saveRule({ ...rule, enabled: false }));
  return html`<${ListPage}
    label=${t("settings-rules")}
    about=${t("rules-about")}
    items=${rules.value}
    problem=${problem}
    again=${again}
    empty=${t("no-rules")}
    row=${(/** @type {Rule} */ rule) => html`<li class="managed-row" key=${rule.id}>
      <span class="managed-words">
        <${Switch}
          label=${html`<span dir="auto">${rule.name}</span>`}
          hint=${inShort(rule)}
          checked=${rule.enabled}
          onChange=${(/** @type {boolean} */ on) => toggle(rule, on)}
        />
      </span>
      <span class="managed-acts">
        <${IconButton}
          icon="gear"
          label=${t("edit-named", { name: rule.name })}
          onClick=${() => setOpen(rule)}
        />
      </span>
    </li>`}
  >
    <h4>${t("rule-create")}</h4>
    <div class="filters" role="group" aria-label=${t("rule-create")}>
      ${KINDS.map(
        (kind) =>
          html`<${Button} key=${kind} icon="add" onClick=${() => setOpen(newRule(kind))}>
            ${t(`rule-kind-${kind}`)}
          <//>`,
      )}
    </div>
  <//>`;
}

/** @param {Rule} rule */
const inShort = ({ kind, action, newcomer_s: newcomers, too_slow: slow }) =>
  [
    slow && t("rule-too-slow"),
    t(`rule-kind-${kind}`),
    t(`rule-action-${action}`),
    newcomers > 0 && kind !== "newcomers" && t("rule-only-newcomers"),
  ]
    .filter(Boolean)
    .join(" · ");
