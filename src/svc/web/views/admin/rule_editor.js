// Edits one automod rule: its condition, its effect on messages and its exemptions. A rule must be tested
// before it is enabled.

/** @import { Wanted } from "../../state/admin/automod_rules.js" */
/** @import { Rule } from "../../types/api.js" */
/** @import { RefObject } from "../../vendor/preact.js" */

import { hasPermission, textChannels } from "../../state/channels.js";
import { ACTIONS, deleteRule, entriesOf, saveRule } from "../../state/admin/automod_rules.js";
import { notify, tryOrNotify } from "../../state/notices.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/dialog.js";
import { Choice, Field, Switch } from "../parts/field.js";
import { SaveBar } from "../parts/save_bar.js";
import { formatDuration } from "../parts/time.js";
import { Among } from "./channel_overview.js";
import { useFormRequest } from "./parts/form_request.js";
import { BackToList } from "./parts/list_page.js";
import { Chips, Pick } from "./parts/picker.js";
import { RuleTrial } from "./rule_trial.js";

const TIMEOUTS_S = [60, 600, 3600, 86400, 604800];
const WITHIN_S = [10, 60, 600, 3600];
const NEWCOMERS_S = [0, 3600, 86400, 604800, 2592000];
const idOf = (/** @type {string} */ key) => key.slice("role:".length);

/**
 * @typedef {<K extends keyof Wanted>(key: K) => (value: Wanted[K]) => void} Change
 * @typedef {{words: string, allowed: string}} Lists as typed, one item per line
 */

/** @param {Wanted} rule @returns {Lists} */
const listsOf = ({ words, allowed }) => ({ words: words.join("\n"), allowed: allowed.join("\n") });

/**
 * `theirs` is the stored version of the rule, which somebody else may have changed. `onTheirs` shows that
 * version.
 * @param {{rule: Wanted, theirs?: Rule, onTheirs: () => void, onDone: () => void}} props
 */
export function RuleEditor({ rule, theirs, onTheirs, onDone }) {
  const [now, setNow] = useState(rule);
  const [lists, setLists] = useState(listsOf(rule));
  // The rule as last tested, as JSON.
  const [triedAs, setTriedAs] = useState(/** @type {string | null} */ (null));
  const [ending, setEnding] = useState(false);
  const { busy, problem, run } = useFormRequest();
  /** @type {RefObject<HTMLElement>} */
  const start = useRef(null);
  useLayoutEffect(() => start.current.querySelector("input")?.focus(), []);
  /** @type {Change} */
  const change = (key) => (value) => setNow({ ...now, [key]: value });
  const wanted = {
    ...now,
    name: now.name.trim(),
    words: entriesOf(lists.words),
    allowed: entriesOf(lists.allowed),
    timeout_s: now.timeout_s || 600,
  };
  const changed = rule.id && !busy && JSON.stringify(theirs) !== JSON.stringify(rule);
  const before = useRef(JSON.stringify(wanted));
  const discard = () => {
    setNow(rule);
    setLists(listsOf(rule));
  };
  const asTried = triedAs === JSON.stringify(wanted);
  const save = async (/** @type {boolean} */ enabled) => {
    if (!(await run(() => saveRule({ ...wanted, enabled })))) return;
    notify(enabled ? t("rule-is-on") : t("saved"), "done");
    onDone();
  };
  return html`
    <${BackToList} onBack=${onDone}>${t("all-rules")}<//>
    <form
      class="stack"
      onSubmit=${(/** @type {Event} */ event) => {
        event.preventDefault();
        if (rule.enabled || asTried) save(true);
      }}
      novalidate
      ref=${start}
    >
      <${Field}
        label=${t("rule-name")}
        hint=${t("rule-name-hint")}
        value=${now.name}
        maxlength="64"
        onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) =>
          change("name")(event.currentTarget.value)}
        autocomplete="off"
      />
      <${LookedFor} now=${now} change=${change} lists=${lists} setLists=${setLists} />
      <${Choice}
        label=${t("rule-action")}
        value=${now.action}
        onChange=${change("action")}
        options=${ACTIONS.filter(
          (action) => action !== "timeout" || rule.action === action || hasPermission("timeout_members"),
        ).map((action) => ({
          value: action,
          label: t(`rule-action-${action}`),
          hint: t(`rule-action-${action}-hint`),
        }))}
      />
      ${
        now.action === "timeout" &&
        html`<${Among}
          label=${t("timeout-for")}
          value=${wanted.timeout_s}
          all=${TIMEOUTS_S}
          words=${formatDuration}
          onChange=${change("timeout_s")}
        />`
      }
      ${
        now.kind !== "newcomers" &&
        html`<${Among}
          label=${t("rule-whom")}
          value=${now.newcomer_s}
          all=${NEWCOMERS_S}
          words=${(/** @type {number} */ seconds) =>
            seconds ? t("rule-newcomers", { time: formatDuration(seconds) }) : t("rule-everybody")}
          onChange=${change("newcomer_s")}
        />`
      }
      <${Spared} now=${now} change=${change} />
      ${problem && html`<p class="error" role="alert">${problem}</p>`}
      ${
        changed &&
        html`<p class="error" role="alert">
          ${t("rule-was-changed")} <${Button} look="link" onClick=${onTheirs}>${t("rule-show-theirs")}<//>
        </p>`
      }
      <${RuleTrial} rule=${wanted} onTried=${() => setTriedAs(JSON.stringify(wanted))} />
      ${
        rule.enabled
          ? JSON.stringify(wanted) !== before.current && html`<${SaveBar} onDiscard=${discard} />`
          : html`<${SaveBar}
              action=${t("rule-switch-on")}
              disabled=${!asTried}
              title=${asTried ? undefined : t("rule-try-first")}
            >
              <${Button} onClick=${() => save(false)}>${t("rule-save-off")}<//>
            <//>`
      }
    </form>
    ${
      rule.id &&
      html`<section class="ending">
        <${Button} look="danger" onClick=${() => setEnding(true)}>${t("rule-delete")}<//>
      </section>`
    }
    ${
      ending &&
      html`<${Confirm}
        title=${t("rule-delete-title", { name: rule.name })}
        text=${t("rule-delete-text")}
        action=${t("rule-delete")}
        onConfirm=${() => tryOrNotify(deleteRule(rule.id ?? ""))}
        onClose=${() => setEnding(false)}
      />`
    }
  `;
}

/** @param {{now: Wanted, change: Change, lists: Lists, setLists: (lists: Lists) => void}} props */
function LookedFor({ now, change, lists, setLists }) {
  const { kind, most, within_s: within, newcomer_s: newcomers } = now;
  const list = (/** @type {keyof Lists} */ key) =>
    html`<${Field}
      label=${t(`rule-${key}`)}
      hint=${t(`rule-${key}-hint`)}
      multiline
      rows="5"
      value=${lists[key]}
      onInput=${(/** @type {EventOn<HTMLTextAreaElement>} */ event) =>
        setLists({ ...lists, [key]: event.currentTarget.value })}
      spellcheck=${false}
      autocapitalize="none"
    />`;
  const count = (/** @type {number} */ minimum, /** @type {number} */ maximum) =>
    html`<${Field}
      label=${t(`rule-most-${kind}`)}
      type="number"
      min=${minimum}
      max=${maximum}
      value=${most}
      onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) =>
        change("most")(Number(event.currentTarget.value))}
    />`;
  if (kind === "words") return list("words");
  if (kind === "links") return list("allowed");
  if (kind === "mentions") return count(0, 49);
  if (kind === "repeats")
    return html`
      ${count(1, 19)}
      <${Among}
        label=${t("rule-within")}
        value=${within}
        all=${WITHIN_S}
        words=${formatDuration}
        onChange=${change("within_s")}
      />
    `;
  return html`<${Among}
    label=${t("rule-newcomer-for")}
    hint=${t("rule-newcomer-for-hint")}
    value=${newcomers}
    all=${NEWCOMERS_S.slice(1)}
    words=${formatDuration}
    onChange=${change("newcomer_s")}
  />`;
}

/** The roles and channels that are exempt from the rule. @param {{now: Wanted, change: Change}} props */
function Spared({ now, change }) {
  const { except_roles: roles, except_channels: channels } = now;
  const keys = roles.map((id) => `role:${id}`);
  const toggle = (/** @type {string} */ id, /** @type {boolean} */ on) =>
    change("except_channels")(on ? [...channels, id] : channels.filter((channel) => channel !== id));
  return html`<details class="spared" open=${roles.length + channels.length > 0}>
    <summary>${t("rule-exceptions")}</summary>
    <div class="stack">
      <${Pick}
        label=${t("rule-except-roles")}
        only="role"
        chosen=${keys}
        onPick=${(/** @type {string} */ key) => change("except_roles")([...roles, idOf(key)])}
      />
      ${
        keys.length > 0 &&
        html`<${Chips}
          label=${t("rule-except-roles")}
          keys=${keys}
          onRemove=${(/** @type {string} */ key) =>
            change("except_roles")(roles.filter((id) => id !== idOf(key)))}
        />`
      }
      <fieldset class="permissions">
        <legend>${t("rule-except-channels")}</legend>
        ${textChannels.value.map(
          ({ id, name }) =>
            html`<${Switch}
              key=${id}
              label=${html`<span dir="auto">${name}</span>`}
              checked=${channels.includes(id)}
              onChange=${(/** @type {boolean} */ on) => toggle(id, on)}
            />`,
        )}
      </fieldset>
    </div>
  </details>`;
}
