// The owner's rules in the settings: each with what it does, and a new one of each kind.

import { KINDS, newRule, rules, saveRule } from "../../state/managing/rules.js";
import { tried } from "../../state/notices.js";
import { html, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button, IconButton } from "../parts/button.js";
import { Switch } from "../parts/field.js";
import { useAnswer } from "./parts/asking.js";
import { ListPage } from "./parts/list_page.js";
import { RuleEditor } from "./rule_editor.js";

export function RulesPage() {
  const { value, problem, set, again } = useAnswer(rules);
  const [open, setOpen] = useState(null);
  const put = (rule) => set((all) => (all.some(({ id }) => id === rule.id) ? all.map((each) => (each.id === rule.id ? rule : each)) : [...all, rule]));
  const done = () => setOpen(null);
  if (open) return html`<${RuleEditor} key=${open.id ?? open.kind} rule=${open} onSaved=${(rule) => { put(rule); done(); }} onDone=${done} onDeleted=${(id) => { set((all) => all.filter((each) => each.id !== id)); done(); }} />`;
  // What is switched on is tried first.
  const toggle = (rule, on) => (on ? setOpen(rule) : tried(saveRule({ ...rule, enabled: false }).then(put)));
  return html`<${ListPage} label=${t("settings-rules")} about=${t("rules-about")} items=${value} problem=${problem} again=${again} empty=${t("no-rules")}
    row=${(rule) => html`<li class="managed-row" key=${rule.id}>
      <span class="managed-words"><${Switch} label=${html`<span dir="auto">${rule.name}</span>`} hint=${inShort(rule)} checked=${rule.enabled} onChange=${(on) => toggle(rule, on)} /></span>
      <span class="managed-acts"><${IconButton} icon="gear" label=${t("edit-named", { name: rule.name })} onClick=${() => setOpen(rule)} /></span></li>`}>
    <h4>${t("rule-create")}</h4><div class="filters" role="group" aria-label=${t("rule-create")}>${KINDS.map((kind) => html`<${Button} key=${kind} icon="add" onClick=${() => setOpen(newRule(kind))}>${t(`rule-kind-${kind}`)}<//>`)}</div>
  <//>`;
}

const inShort = ({ kind, action, newcomer_s: newcomers }) => [t(`rule-kind-${kind}`), t(`rule-action-${action}`), newcomers > 0 && kind !== "newcomers" && t("rule-only-newcomers")].filter(Boolean).join(" · ");
