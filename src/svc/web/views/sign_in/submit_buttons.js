// Renders the submit buttons of the sign-in forms. They sign in with this browser's key or with the account
// provider.

/** @import { Problem, Step } from "../../state/sign_in.js" */
/** @import { Info, ErrorBody } from "../../types/wire.js" */
/** The sign-in methods that the server accepts. @typedef {Info["signIn"]} Takes */

import { busy, enter, enterByAccount, forgetful, goTo, held, problem, step } from "../../state/sign_in.js";
import { info } from "../../state/server.js";
import { html } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { Button } from "../parts/button.js";

const ACCOUNT = "account";

/** Return the account provider's displayed name, which is the host of its pages. */
export const providerName = () => new URL(info.value?.signIn.account?.issuer ?? location.href).host;

/**
 * The submit buttons. `action` is the label that describes the result.
 * @param {{takes: Takes, action: string}} props
 */
export function Ways({ takes: { local, account }, action }) {
  const direct = local || held.value;
  return html`<div class="ways">
    ${
      problem.value &&
      !problem.value.field &&
      html`<p class="error" role="alert">${problemText(problem.value)}</p>`
    }
    ${
      held.value?.way === "account" &&
      html`<p class="quiet">${t("signed-in-at", { provider: providerName() })}</p>`
    }
    ${direct && forgetful.value && html`<p class="quiet">${t("no-browser-storage")}</p>`}
    ${
      direct &&
      html`<${Button} look="primary" type="submit" disabled=${busy.value}>
        ${busy.value ? t("joining") : action}
      <//>`
    }
    ${direct && account && !held.value && html`<p class="or quiet" aria-hidden="true">${t("or")}</p>`}
    ${
      account &&
      !held.value &&
      html`<${Button} look=${local ? "" : "primary"} type="submit" value=${ACCOUNT} disabled=${busy.value}>
        ${busy.value && !local ? t("joining") : t("continue-with", { provider: providerName() })}
      <//>`
    }
    ${
      account &&
      !local &&
      !held.value &&
      html`<p class="quiet">${t("accounts-only", { provider: providerName() })}</p>`
    }
  </div>`;
}

/**
 * Submit a form with the clicked button. `missing()` returns the problem that the server would report if the
 * user signed in with this browser's key, or null.
 * @param {SubmitEvent} event @param {() => Problem | null} missing
 */
export function send(event, missing) {
  event.preventDefault();
  if (busy.value) return;
  const submitter = /** @type {HTMLButtonElement | null} */ (event.submitter);
  const { account, local } = /** @type {Info} */ (info.value).signIn;
  const byAccount = submitter ? submitter.value === ACCOUNT : account && !local && !held.value;
  const lacks = byAccount ? null : missing();
  if (lacks) problem.value = lacks;
  else if (byAccount) enterByAccount();
  else enter();
}

/** Show another form. Going back in the browser returns to this one. @param {Step} to */
function turnTo(to) {
  const from = step.value;
  history.pushState(null, "");
  addEventListener("popstate", () => goTo(from), { once: true });
  goTo(to);
}

/** Links to the other forms. @param {{takes: Takes, but: Step}} props */
export function OtherWays({ takes: { local, account, certificateIssuers }, but }) {
  /** @type {({step: Step, words: string} | false | null)[]} */
  const others = [
    but !== "new" && (local || account) && { step: "new", words: t("am-new") },
    but !== "code" && (local || account) && { step: "code", words: t("have-code") },
    but !== "certificate" &&
      certificateIssuers.length > 0 && { step: "certificate", words: t("have-certificate") },
  ];
  return html`<p class="other-ways">
    ${others
      .filter((line) => !!line)
      .map(
        ({ step: to, words }) =>
          html`<${Button} key=${to} look="link" onClick=${() => turnTo(to)}>${words}<//>`,
      )}
  </p>`;
}

/** Describe a problem in a sentence. @param {Problem} problem */
export function problemText({ error, key, reason = "" }) {
  const { code, details } = /** @type {{code?: string, details?: ErrorBody}} */ (error ?? {});
  if (code === "banned") return banned({ details });
  if (code === "approval_refused" && details?.reason)
    return t("approval-refused-because", { reason: details.reason });
  if (error) return explain(error);
  switch (key) {
    case "name-missing":
      return t("name-missing");
    case "name-wanted":
      return t("name-wanted");
    case "code-missing":
      return t("code-missing");
    case "certificate-unreadable":
      return t("certificate-unreadable");
    case "certificate-other-key":
      return t("certificate-other-key");
    default:
  }
  if (reason === "cancelled") return t("provider-cancelled", { provider: providerName() });
  return reason === "mismatch"
    ? t("provider-mismatch")
    : t("provider-refused", { provider: providerName(), reason });
}

/** Describe a ban, with its reason if one was given. @param {{details?: ErrorBody}} refusal */
export const banned = ({ details }) =>
  details?.reason ? t("banned-because", { reason: details.reason }) : t("error-banned");

/** Return the problem with this field. @param {string} field */
export const wrong = (field) => (problem.value?.field === field ? problemText(problem.value) : "");
