// Renders the form for new members: a name, an invite if required, the rules to accept, and a message to the
// moderators if they review applications.

/** @import { Info } from "../../types/wire.js" */
/** @import { RefObject } from "../../vendor/preact.js" */
/** @import { Takes } from "./submit_buttons.js" */

import { info } from "../../state/server.js";
import {
  codeOf,
  held,
  invitation,
  invited,
  fetchInvitation,
  problem,
  updateForm,
  joinForm,
} from "../../state/sign_in.js";
import { html, useId, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { Field, Switch } from "../parts/field.js";
import { OtherWays, send, Ways, wrong } from "./submit_buttons.js";
import { t } from "../../words/words.js";

/** @typedef {FormWith<"name" | "invite" | "message">} Form */

/** @param {{takes: Takes}} props */
export function NewForm({ takes }) {
  const { name, invite, message } = joinForm.value;
  /** @type {RefObject<Form>} */
  const form = useRef(null);
  // Once the invite field has been shown, it stays, so that it does not disappear while the user is typing.
  const looked = useRef(codeOf(invite));
  const [asksInvite, askInvite] = useState(false);
  const hasName = takes.local || held.value;
  const needsInvite = (invited.value && !invite) || problem.value?.field === "invite";
  useLayoutEffect(() => {
    if (needsInvite) askInvite(true);
  }, [needsInvite]);
  useLayoutEffect(() => form.current.querySelector("input")?.focus(), [Boolean(held.value)]);
  // Focus the invalid field, unless the problem was found when an invite was checked before submission.
  useLayoutEffect(() => {
    if (!problem.value?.looked) form.current.querySelector("[aria-invalid]")?.focus();
  }, [problem.value]);
  const submit = (/** @type {EventOn<Form, SubmitEvent>} */ event) => {
    // Read the form, because its values may be newer than the rendered ones.
    const { elements } = event.currentTarget;
    for (const field of /** @type {const} */ (["name", "invite", "message"]))
      if (elements[field]) updateForm({ [field]: elements[field].value });
    send(event, () => (joinForm.value.name.trim() ? null : { field: "name", key: "name-missing" }));
  };
  const changed = (/** @type {EventOn<HTMLInputElement>} */ event) =>
    updateForm({ [event.currentTarget.name]: event.currentTarget.value });
  // Check a new invite code when the field loses the focus.
  const left = () => {
    const code = codeOf(invite);
    if (code && code !== looked.current) fetchInvitation();
    looked.current = code;
  };
  return html`<form class="stack" onSubmit=${submit} novalidate ref=${form}>
    ${
      hasName &&
      html`<${Field}
        label=${t("your-name")}
        name="name"
        maxlength="32"
        autocomplete="nickname"
        spellcheck=${false}
        required
        value=${name}
        onInput=${changed}
        problem=${wrong("name")}
      />`
    }
    ${
      (asksInvite || needsInvite) &&
      html`<${Field}
        label=${t("invite-code")}
        hint=${t("invite-hint")}
        name="invite"
        autocomplete="off"
        autocapitalize="off"
        spellcheck=${false}
        required
        value=${invite}
        onInput=${changed}
        onBlur=${left}
        problem=${wrong("invite")}
      />`
    }
    ${
      invitation.value?.approval &&
      html`<${Field}
        label=${t("approval-message")}
        hint=${t("approval-hint")}
        name="message"
        maxlength="500"
        multiline
        rows="2"
        value=${message}
        onInput=${changed}
      />`
    }
    ${hasName && html`<${Rules} />`}
    <${Ways} takes=${takes} action=${t("join")} />
    <${OtherWays} takes=${takes} but="new" />
  </form>`;
}

export function Rules() {
  const id = useId();
  const { rules, rulesVersion } = /** @type {Info} */ (info.value);
  if (!rules) return null;
  const problem = wrong("rules");
  // If the rules have changed in the meantime, they must be accepted again.
  const accepted = joinForm.value.rules === rulesVersion;
  return html`<section class="rules" aria-label=${t("server-rules")}>
    <div class="rules-text" dir="auto" tabindex="0" role="group" aria-label=${t("server-rules")}>
      ${rules}
    </div>
    <${Switch}
      label=${t("accept-rules")}
      checked=${accepted}
      onChange=${(/** @type {boolean} */ on) => updateForm({ rules: on ? rulesVersion : "" })}
      aria-invalid=${problem ? "true" : undefined}
      aria-describedby=${problem ? id : undefined}
    />
    ${problem && html`<p class="error" id=${id} role="alert">${problem}</p>`}
  </section>`;
}
