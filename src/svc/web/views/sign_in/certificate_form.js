// Renders the form for signing in with a certificate. It shows this browser's public key, for the issuer, and
// has a field for the certificate.

/** @import { RefObject } from "../../vendor/preact.js" */
/** @import { Takes } from "./submit_buttons.js" */
/** @typedef {FormWith<"certificate", HTMLTextAreaElement>} Form */

import { busy, enterByCertificate, problem, publicKey } from "../../state/sign_in.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { formatList, t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { copy } from "../parts/copy_field.js";
import { Field } from "../parts/field.js";
import { OtherWays, problemText, wrong } from "./submit_buttons.js";

const MAX_LENGTH = 16_384; // The server's limit for a certificate.

/** @param {{takes: Takes}} props */
export function CertificateForm({ takes }) {
  const [key, setKey] = useState("");
  const [text, setText] = useState("");
  /** @type {[RefObject<Form>, RefObject<HTMLInputElement>]} */
  const [form, file] = [useRef(null), useRef(null)];
  useEffect(() => {
    publicKey().then(setKey);
  }, []);
  useLayoutEffect(() => form.current.elements.certificate.focus(), []);
  const load = async (/** @type {EventOn<HTMLInputElement>} */ event) => {
    const [picked] = event.currentTarget.files ?? [];
    if (picked) setText((await picked.slice(0, MAX_LENGTH).text()).trim());
  };
  const submit = (/** @type {EventOn<Form>} */ event) => {
    event.preventDefault();
    if (!busy.value) enterByCertificate(event.currentTarget.elements.certificate.value);
  };
  return html`<form class="stack" onSubmit=${submit} novalidate ref=${form}>
    <p>
      ${t("certificate-text", {
        issuers: formatList(takes.certificateIssuers.map((issuer) => new URL(issuer).host)),
      })}
    </p>
    <details>
      <summary>${t("public-key")}</summary>
      <p class="quiet">${t("public-key-text")}</p>
      <code class="key" id="public-key">${key}</code>
      <${Button} onClick=${() => copy(key)}>${t("copy")}<//>
    </details>
    <${Field}
      label=${t("certificate")}
      name="certificate"
      multiline
      rows="4"
      maxlength=${MAX_LENGTH}
      spellcheck=${false}
      required
      dir="ltr"
      value=${text}
      onInput=${(/** @type {EventOn<HTMLTextAreaElement>} */ event) => setText(event.currentTarget.value)}
      problem=${wrong("certificate")}
    />
    <p>
      <${Button} onClick=${() => file.current.click()}>${t("load-file")}<//>
      <input
        type="file"
        hidden
        ref=${file}
        accept=".jwt,.txt,.pem,application/jwt,text/plain"
        aria-label=${t("load-file")}
        onChange=${load}
      />
    </p>
    ${
      problem.value &&
      !problem.value.field &&
      html`<p class="error" role="alert">${problemText(problem.value)}</p>`
    }
    <${Button} look="primary" type="submit" disabled=${busy.value}>
      ${busy.value ? t("joining") : t("sign-in")}
    <//>
    <${OtherWays} takes=${takes} but="certificate" />
  </form>`;
}
