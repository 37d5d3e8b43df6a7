// Renders the sign-in view: the server's name, the sign-in forms, and the status of an application to join.

/** @import { Refusal } from "../../transport/http.js" */
/** @import { Info } from "../../types/wire.js" */

import { info, isSecure, rejection, unheard } from "../../state/server.js";
import { goTo, invitation, known, step } from "../../state/sign_in.js";
import { html } from "../../vendor/preact.js";
import { Button } from "../parts/button.js";
import { Lazy } from "../parts/lazy_component.js";
import { NewForm } from "./join_form.js";
import { Back } from "./sign_back_in_form.js";
import { banned } from "./submit_buttons.js";
import { explain, t } from "../../words/words.js";

const CertificateForm = Lazy(() => import("./certificate_form.js"), "CertificateForm");
const CodeForm = Lazy(() => import("./code_form.js"), "CodeForm");
const STEPS = { back: Back, certificate: CertificateForm, code: CodeForm, new: NewForm, waiting: Waiting };

export function SignInView() {
  const server = info.value;
  return html`<main class="arriving">
    <div class="card">
      <img class="logo" src=${server?.iconUrl ?? "/web/icon.svg"} alt="" width="64" height="64" />
      <div class="whose">
        <h1 dir="auto">${title(server)}</h1>
        ${server?.description && html`<p class="quiet" dir="auto">${server.description}</p>`}
        ${server && html`<${Who} server=${server} />`}
      </div>
      ${rejection.value && html`<p class="error" role="alert" dir="auto">${sentAway(rejection.value)}</p>`}
      <${WayIn} server=${server} />
    </div>
  </main>`;
}

/** @param {Info | null} server */
function title(server) {
  if (!server?.name) return t("join-title");
  return step.value === "code" || (known.value && step.value === "back")
    ? t("back-at", { server: server.name })
    : t("join-server", { server: server.name });
}

/** The number of members and, with an invite, the number online. @param {{server: Info}} props */
function Who({ server }) {
  if (invitation.value?.founder) return html`<p>${t("first-member")}</p>`;
  /** @type {{members: number, online?: number}} */
  const { members, online = 0 } = invitation.value ?? server;
  return html`<p class="quiet">
    ${t("people-here", { count: members })}
    ${online > 0 && html` <span class="online-now">${t("online-now", { count: online })}</span>`}
  </p>`;
}

/**
 * The sign-in form or, if signing in is impossible, the reason.
 * @param {{server: Info | null}} props
 */
function WayIn({ server }) {
  if (!isSecure()) return html`<p class="error" id="insecure" role="alert">${t("insecure")}</p>`;
  if (!server)
    return html`<p class="quiet" role="status">${unheard.value ? t("offline-text") : t("loading")}</p>`;
  const { open, local, account, certificateIssuers } = server.signIn;
  if (!open) return html`<p class="error" role="alert">${t("joins-closed")}</p>`;
  if (!local && !account && !certificateIssuers.length)
    return html`<p class="error" role="alert">${t("sign-in-impossible")}</p>`;
  const Step = STEPS[step.value];
  return html`<${Step} key=${step.value} takes=${server.signIn} />`;
}

/** @param {Refusal} refusal */
function sentAway(refusal) {
  // The server demands a name, so the account that this browser remembers no longer exists.
  if (refusal.code === "invalid_nickname") return t("kicked-out");
  if (refusal.code === "banned") return banned(refusal);
  return ["sign_in_again", "signed_out"].includes(refusal.code)
    ? explain(refusal)
    : t("access-lost", { reason: explain(refusal) });
}

export function Waiting() {
  return html`<div class="stack" role="status">
    <p><strong>${t("waiting-title")}</strong></p>
    <p>${t("waiting-text")}</p>
    <${Button} onClick=${() => goTo("new")}>${t("back-to-form")}<//>
  </div>`;
}
