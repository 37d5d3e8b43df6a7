// Renders form fields, each with its label, input and error.

/** @import { ComponentChildren } from "../../vendor/preact.js" */

import { html, useEffect, useId, useState } from "../../vendor/preact.js";

/**
 * @param {{label: string, hint?: string, problem?: string | null, multiline?: boolean, [attribute: string]:
 *   unknown}} props
 */
export function Field({ label, hint, problem, multiline = false, ...rest }) {
  const id = useId();
  const described = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(" ") || undefined;
  const input = {
    id,
    "aria-invalid": problem ? "true" : undefined,
    "aria-describedby": described,
    dir: "auto",
    ...rest,
  };
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${multiline ? html`<textarea ...${input}></textarea>` : html`<input ...${input} />`}
    ${hint && html`<p class="quiet" id=${`${id}-hint`}>${hint}</p>`}
    ${problem && html`<p class="error" id=${`${id}-problem`} role="alert">${problem}</p>`}
  </div>`;
}

/**
 * Return the value to show and a function that changes it. The user's choice is shown until `value` changes,
 * so unrelated responses do not revert it. If `onChange` resolves to false, the choice was rejected and is
 * reverted.
 * @template V @param {V} value @param {(value: V) => unknown} onChange @returns {[V, (value: V) =>
 *   Promise<void>]}
 */
function useChosen(value, onChange) {
  const [mine, setMine] = useState(/** @type {{value: V} | null} */ (null));
  useEffect(() => setMine(null), [value]);
  const choose = async (/** @type {V} */ chosen) => {
    const now = { value: chosen };
    setMine(now);
    if ((await onChange(chosen)) === false) setMine((latest) => (latest === now ? null : latest));
  };
  return [mine ? mine.value : value, choose];
}

/**
 * A switch with a label and an optional hint.
 * @param {{label: ComponentChildren, hint?: ComponentChildren, checked: boolean, onChange: (on: boolean) =>
 *   unknown, [attribute: string]: unknown}} props
 */
export function Switch({ label, hint, checked, onChange, ...rest }) {
  const [on, choose] = useChosen(checked, onChange);
  return html`<label class="switch">
    <input
      type="checkbox"
      role="switch"
      checked=${on}
      onChange=${(/** @type {EventOn<HTMLInputElement>} */ event) => choose(event.currentTarget.checked)}
      ...${rest}
    />
    <span>${label}${hint && html`<small class="quiet">${hint}</small>`}</span>
  </label>`;
}

/**
 * A choice between a few options, which are in one row unless they have hints.
 * @template {string | null} V
 * @param {{label: string, value: V, options: {value: V, label: string, hint?: string}[], onChange: (value: V)
 *   => unknown}} props
 */
export function Choice({ label, value, options, onChange }) {
  const id = useId();
  const [chosen, choose] = useChosen(value, onChange);
  return html`<fieldset class=${options.some(({ hint }) => hint) ? "choice" : "choice segmented"}>
    <legend>${label}</legend>
    <div>
      ${options.map(
        (option) => html`<label key=${option.value}>
          <input
            type="radio"
            name=${id}
            value=${option.value}
            checked=${option.value === chosen}
            onChange=${() => choose(option.value)}
          />
          <span>${option.label}${option.hint && html`<small class="quiet">${option.hint}</small>`}</span>
        </label>`,
      )}
    </div>
  </fieldset>`;
}
