// The welcome for an owner who is alone: four steps, each done in place.

/** @import { RefObject } from "../../vendor/preact.js" */
/** @typedef {FormWith<"server">} Form */

import { askFirstSteps, firstSteps, hideFirstSteps, nameServer } from "../../state/first_steps.js";
import { sendIcon } from "../../state/admin/server.js";
import { notify, tryOrNotify } from "../../state/notices.js";
import { showDialog } from "../../state/navigation.js";
import { info } from "../../state/server.js";
import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Field } from "../parts/field.js";
import { Icon } from "../parts/icon.js";
import { Reach } from "../admin/invite_dialog.js";

export function FirstSteps() {
  const done = firstSteps.value;
  useEffect(() => {
    askFirstSteps();
  }, []);
  if (!done) return null;
  return html`<section class="first-steps" aria-labelledby="first-steps">
    <h2 id="first-steps">${t("first-steps")}</h2>
    <ol>
      <li><${Mark} done=${done.named} number="1" /><${NameIt} done=${done.named} /></li>
      <li><${Mark} done=${done.icon} number="2" /><${IconOfIt} done=${done.icon} /></li>
      <li>
        <${Mark} done=${done.channel} number="3" />
        <span class="row-text">${t("step-channel")}</span>
        ${
          !done.channel &&
          html`<${Button} onClick=${() => showDialog("create-channel", { type: "text" })}>
            ${t("step-channel-do")}
          <//>`
        }
      </li>
      <li>
        <${Mark} done=${false} number="4" />
        <span class="row-text">${t("step-invite")}</span>
        <${Button} look="primary" onClick=${() => showDialog("invite")}>${t("step-invite-do")}<//>
      </li>
    </ol>
    <${Reach} />
    <p><${Button} look="link" onClick=${hideFirstSteps}>${t("hide-first-steps")}<//></p>
  </section>`;
}

/** @param {{done: boolean, number: string}} props */
function Mark({ done, number }) {
  return html`<span class=${`step-mark ${done ? "done" : ""}`}>
    ${done ? html`<${Icon} name="check" /><span class="unseen">${t("step-done")}</span>` : number}
  </span>`;
}

/** @param {{done: boolean}} props */
function NameIt({ done }) {
  const [name, setName] = useState(/** @type {string | null} */ (null));
  const [problem, setProblem] = useState("");
  const submit = async (/** @type {EventOn<Form>} */ event) => {
    event.preventDefault();
    const wanted = event.currentTarget.elements.server.value.trim();
    if (!wanted) {
      setProblem(t("server-name-missing"));
      return;
    }
    setProblem("");
    const next = event.currentTarget.closest("li")?.nextElementSibling?.querySelector("button");
    if (await tryOrNotify(nameServer(wanted).then(() => setName(null)))) next?.focus();
  };
  if (done && name === null)
    return html`
      <span class="row-text" dir="auto">${t("step-named", { name: info.value?.name ?? "" })}</span>
      <${Button} onClick=${() => setName(info.value?.name ?? "")}>${t("edit")}<//>
    `;
  return html`<form class="row-form" onSubmit=${submit} novalidate>
    <${Field}
      label=${t("step-name")}
      name="server"
      maxlength="64"
      autocomplete="off"
      value=${name ?? ""}
      onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => setName(event.currentTarget.value)}
      problem=${problem}
    />
    <${Button} type="submit">${t("save")}<//>
  </form>`;
}

/** @param {{done: boolean}} props */
function IconOfIt({ done }) {
  /** @type {RefObject<HTMLInputElement>} */
  const input = useRef(null);
  if (done) return html`<span class="row-text">${t("step-icon-given")}</span>`;
  const picked = async (/** @type {EventOn<HTMLInputElement>} */ event) => {
    const [file] = event.currentTarget.files ?? [];
    event.currentTarget.value = "";
    if (file && (await tryOrNotify(sendIcon(file)))) notify(t("picture-checked"), "done");
  };
  return html`
    <span class="row-text">${t("step-icon")}</span>
    <${Button} onClick=${() => input.current.click()}>${t("choose-picture")}<//>
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
