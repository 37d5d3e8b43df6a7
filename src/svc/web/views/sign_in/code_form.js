// Renders the form for signing in on a new device with a code from another device or from the owner.

/** @import { RefObject } from "../../vendor/preact.js" */
/** @import { Takes } from "./submit_buttons.js" */
/** @typedef {FormWith<"code">} Form */

import { updateForm, joinForm } from "../../state/sign_in.js";
import { html, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Field } from "../parts/field.js";
import { OtherWays, send, Ways, wrong } from "./submit_buttons.js";

/** @param {{takes: Takes}} props */
export function CodeForm({ takes }) {
  /** @type {RefObject<Form>} */
  const form = useRef(null);
  useLayoutEffect(() => form.current.elements.code.focus(), []);
  const submit = (/** @type {EventOn<Form, SubmitEvent>} */ event) => {
    updateForm({ code: event.currentTarget.elements.code.value });
    const lacks = joinForm.value.code.trim() ? null : { field: "code", key: "code-missing" };
    send(event, () => lacks);
  };
  return html`<form class="stack" onSubmit=${submit} novalidate ref=${form}>
    <p>${t("code-text")}</p>
    <${Field}
      label=${t("code")}
      hint=${t("code-hint")}
      name="code"
      autocomplete="one-time-code"
      autocapitalize="off"
      spellcheck=${false}
      required
      value=${joinForm.value.code}
      onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) =>
        updateForm({ code: event.currentTarget.value })}
      problem=${wrong("code")}
    />
    <${Ways} takes=${takes} action=${t("add-device")} />
    <${OtherWays} takes=${takes} but="code" />
  </form>`;
}
