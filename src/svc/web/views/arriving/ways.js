// The buttons by which a form is sent: by this browser's key, or over the provider of the accounts.

import { busy, enter, enterByAccount, forgetful, goTo, held, problem } from "../../state/arriving.js";
import { info } from "../../state/server.js";
import { html } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { Button } from "../parts/button.js";

const ACCOUNT = "account";

/** The provider as people know it: where its pages are. */
export const providerName = () => new URL(info.value?.signIn.account?.issuer ?? location.href).host;

/** `action` is what is done, `takes` what /info says of signing in. */
export function Ways({ takes: { local, account }, action }) {
  const direct = local || held.value;
  return html`<div class="ways">
    ${problem.value && !problem.value.field && html`<p class="error" role="alert">${said(problem.value)}</p>`}
    ${held.value?.way === "account" && html`<p class="quiet">${t("signed-in-at", { provider: providerName() })}</p>`}
    ${direct && forgetful.value && html`<p class="quiet">${t("keeps-nothing")}</p>`}
    ${direct && html`<${Button} look="primary" type="submit" disabled=${busy.value}>${busy.value ? t("joining") : action}<//>`}
    ${direct && account && !held.value && html`<p class="or quiet" aria-hidden="true">${t("or")}</p>`}
    ${account && !held.value && html`<${Button} look=${local ? "" : "primary"} type="submit" value=${ACCOUNT} disabled=${busy.value}>${busy.value && !local ? t("joining") : t("continue-with", { provider: providerName() })}<//>`}
    ${account && !local && !held.value && html`<p class="quiet">${t("accounts-only", { provider: providerName() })}</p>`}
  </div>`;
}

/** Send a form by the button that was pressed; `missing()` says what the key alone would be refused for. */
export function send(event, missing = () => null) {
  event.preventDefault();
  if (busy.value) return;
  const { submitter } = event;
  const { account, local } = info.value.signIn;
  const byAccount = submitter ? submitter.value === ACCOUNT : account && !local && !held.value;
  const lacks = byAccount ? null : missing();
  if (lacks) problem.value = lacks;
  else if (byAccount) enterByAccount();
  else enter();
}

/** Other forms than this one. */
export function OtherWays({ takes: { local, account, certificateIssuers }, but }) {
  const others = [
    but !== "new" && (local || account) && { step: "new", words: t("am-new") },
    but !== "code" && (local || account) && { step: "code", words: t("have-code") },
    but !== "certificate" && certificateIssuers.length > 0 && { step: "certificate", words: t("have-certificate") },
  ].filter(Boolean);
  return html`<p class="other-ways">${others.map(({ step, words }) => html`<${Button} key=${step} look="link" onClick=${() => goTo(step)}>${words}<//>`)}</p>`;
}

/** What stands against it in words. */
export function said({ error, key, reason }) {
  if (error?.code === "banned") return banned(error);
  if (error?.code === "approval_refused" && error.details.reason) return t("approval-refused-because", { reason: error.details.reason });
  if (error) return explain(error);
  switch (key) {
    case "name-missing": return t("name-missing");
    case "name-wanted": return t("name-wanted");
    case "code-missing": return t("code-missing");
    case "certificate-unreadable": return t("certificate-unreadable");
    case "certificate-other-key": return t("certificate-other-key");
    default:
  }
  if (reason === "cancelled") return t("provider-cancelled", { provider: providerName() });
  return reason === "mismatch" ? t("provider-mismatch") : t("provider-refused", { provider: providerName(), reason });
}

/** That somebody is banned, and why if anybody said. */
export const banned = ({ details: { reason } }) => (reason ? t("banned-because", { reason }) : t("error-banned"));

/** What is wrong with this field. */
export const wrong = (field) => (problem.value?.field === field ? said(problem.value) : "");
