// Guides the owner of a server without other members through four first steps. Only the current step shows
// its controls.

/** @import { ComponentChildren, RefObject } from "../../vendor/preact.js" */
/** @import { Signal } from "../../vendor/signals.js" */
/** @typedef {FormWith<"server">} Form */

import { askFirstSteps, firstSteps, hideFirstSteps, nameServer } from "../../state/first_steps.js";
import { sendIcon } from "../../state/admin/management_requests.js";
import { notify, tryOrNotify } from "../../state/notices.js";
import { showDialog } from "../../state/navigation.js";
import { info } from "../../state/server.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { signal } from "../../vendor/signals.js";
import { t } from "../../words/words.js";
import { Button, IconButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { Reach } from "../admin/invite_dialog.js";

const namedAs = () => t("step-named", { name: info.value?.name ?? "" });
const STEPS = [
  { name: "named", todo: () => t("step-name"), done: namedAs, Controls: NameIt },
  { name: "icon", todo: () => t("step-icon"), done: () => t("step-icon-given"), Controls: IconOfIt },
  { name: "channel", todo: () => t("step-channel"), done: () => t("step-channel"), Controls: AddChannel },
  { name: "invited", todo: () => t("step-invite"), done: () => "", Controls: Invite },
];

/** The skipped steps, which are the same in every channel. @type {Signal<string[]>} */
const skipped = signal([]);

export function FirstSteps() {
  /** @type {{[step: string]: boolean} | null} */
  const done = firstSteps.value;
  useEffect(() => {
    askFirstSteps();
  }, []);
  const last = STEPS.length - 1;
  const next = STEPS.findIndex(({ name }) => !done?.[name] && !skipped.value.includes(name));
  const current = next < 0 ? last : next;
  const [section, holdsFocus] = useFocusOnStep(done && current);
  if (!done) return null;
  return html`<section class="first-steps" aria-labelledby="first-steps" ref=${section} ...${holdsFocus}>
    <header>
      <div>
        <h2 id="first-steps">${t("first-steps")}</h2>
        <p class="quiet">${t("step-number", { number: current + 1, count: STEPS.length })}</p>
      </div>
      <${IconButton} icon="close" label=${t("hide-first-steps")} onClick=${hideFirstSteps} />
    </header>
    <ol>
      ${STEPS.map(
        (step, index) => html`<${Step}
          key=${step.name}
          number=${index + 1}
          done=${Boolean(done[step.name])}
          words=${done[step.name] ? step.done() : step.todo()}
          onOpen=${() => {
            skipped.value = STEPS.slice(0, index).map(({ name }) => name);
          }}
        >
          ${
            index === current &&
            html`<${step.Controls}
              skip=${
                index < last &&
                html`<${Button} look="link" onClick=${() => (skipped.value = [...skipped.value, step.name])}>
                  ${t("step-skip")}
                <//>`
              }
            />`
          }
        <//>`,
      )}
    </ol>
  </section>`;
}

/**
 * Move the focus to the next step when the step with the focus is completed, because the focused element is
 * then removed. Return the section's ref and its listeners.
 * @param {number | null} current
 * @returns {[RefObject<HTMLElement>, object]}
 */
function useFocusOnStep(current) {
  /** @type {RefObject<HTMLElement>} */
  const section = useRef(null);
  const focused = useRef(false);
  useLayoutEffect(() => {
    if (focused.current) section.current?.querySelector("[aria-current] :is(input, .button)")?.focus();
  }, [current]);
  const onFocusIn = () => {
    focused.current = true;
  };
  const onFocusOut = (/** @type {FocusEvent} */ { relatedTarget }) => {
    if (relatedTarget) focused.current = section.current.contains(/** @type {Node} */ (relatedTarget));
  };
  return [section, { onFocusIn, onFocusOut }];
}

/**
 * `children` are the controls of the current step. Any other step that is not done opens when clicked.
 * @param {{number: number, done: boolean, words: string, onOpen: () => void, children: ComponentChildren}}
 *   props
 */
function Step({ number, done, words, onOpen, children }) {
  const isCurrent = Boolean(children);
  return html`<li aria-current=${isCurrent ? "step" : undefined}>
    <span class=${`step-mark ${done ? "done" : ""}`}>
      ${done ? html`<${Icon} name="check" /><span class="unseen">${t("step-done")}</span>` : number}
    </span>
    ${
      done || isCurrent
        ? html`<span class="row-text" dir="auto">${words}</span>`
        : html`<button type="button" class="row-text" onClick=${onOpen}>${words}</button>`
    }
    ${isCurrent && html`<div class="step-controls">${children}</div>`}
  </li>`;
}

/** @param {{skip: ComponentChildren}} props */
function NameIt({ skip }) {
  const [problem, setProblem] = useState("");
  const submit = (/** @type {EventOn<Form>} */ event) => {
    event.preventDefault();
    const wanted = event.currentTarget.elements.server.value.trim();
    setProblem(wanted ? "" : t("server-name-missing"));
    if (wanted) tryOrNotify(nameServer(wanted));
  };
  return html`<form class="row-form" onSubmit=${submit} novalidate>
    <div class="field">
      <input
        name="server"
        maxlength="64"
        autocomplete="off"
        dir="auto"
        aria-label=${t("community-name")}
        aria-invalid=${problem ? "true" : undefined}
        aria-describedby="step-problem"
      />
      ${problem && html`<p class="error" id="step-problem" role="alert">${problem}</p>`}
    </div>
    <${Button} look="primary" type="submit">${t("save")}<//>
    ${skip}
  </form>`;
}

/** @param {{skip: ComponentChildren}} props */
function IconOfIt({ skip }) {
  /** @type {RefObject<HTMLInputElement>} */
  const input = useRef(null);
  const picked = async (/** @type {EventOn<HTMLInputElement>} */ event) => {
    const [file] = event.currentTarget.files ?? [];
    event.currentTarget.value = "";
    if (file && (await tryOrNotify(sendIcon(file)))) notify(t("picture-checked"), "done");
  };
  return html`
    <${Button} look="primary" onClick=${() => input.current.click()}>${t("choose-picture")}<//>
    ${skip}
    <input
      type="file"
      accept="image/*,.heic,.heif"
      hidden
      ref=${input}
      onChange=${picked}
      aria-label=${t("step-icon")}
    />
  `;
}

/** @param {{skip: ComponentChildren}} props */
function AddChannel({ skip }) {
  return html`
    <${Button} look="primary" onClick=${() => showDialog("create-channel", { type: "text" })}>
      ${t("step-channel-do")}
    <//>
    ${skip}
  `;
}

function Invite() {
  return html`
    <${Button} look="primary" onClick=${() => showDialog("invite")}>${t("step-invite-do")}<//>
    <${Reach} />
  `;
}
