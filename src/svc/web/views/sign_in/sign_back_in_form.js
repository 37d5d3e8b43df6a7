// Renders the form that is shown after signing out in this browser. The member can sign in again with one
// click, or somebody else can sign in.

/** @import { RefObject } from "../../vendor/preact.js" */
/** @import { Takes } from "./submit_buttons.js" */

import { switchMember, busy, enter, enterByAccount, goTo, known, problem } from "../../state/sign_in.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Avatar } from "../parts/avatar.js";
import { Button } from "../parts/button.js";
import { Confirm } from "../parts/dialog.js";
import { OtherWays, providerName, problemText } from "./submit_buttons.js";

/** @param {{takes: Takes}} props */
export function Back({ takes }) {
  const { id, nickname, way } = /** @type {NonNullable<typeof known.value>} */ (known.value);
  const [resetting, setResetting] = useState(false);
  /** @type {RefObject<HTMLFormElement>} */
  const form = useRef(null);
  useLayoutEffect(() => form.current.querySelector("button")?.focus(), []);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (way === "local") enter();
    else if (way === "account") enterByAccount();
    else goTo("certificate");
  };
  const other = () => (way === "account" ? switchMember() : setResetting(true));
  const taken = { local: takes.local, account: takes.account, certificate: takes.certificateIssuers.length }[
    way
  ];
  return html`<form class="stack" onSubmit=${submit} ref=${form}>
    <p class="was-here"><${Avatar} id=${id} name=${nickname} /><strong dir="auto">${nickname}</strong></p>
    ${problem.value && html`<p class="error" role="alert">${problemText(problem.value)}</p>`}
    ${
      taken
        ? html`<${Button} look="primary" type="submit" disabled=${busy.value}>
            <span dir="auto">${busy.value ? t("joining") : t("sign-in-as", { name: nickname })}</span>
          <//>`
        : html`<p class="error">${t("sign-in-method-refused")}</p>`
    }
    ${
      way === "account" &&
      taken &&
      html`<p class="quiet">${t("by-account", { provider: providerName() })}</p>`
    }
    <p class="other-ways">
      <${Button} look="link" onClick=${other}>
        ${way === "account" ? t("other-account") : t("change-identity")}
      <//>
    </p>
    <${OtherWays} takes=${takes} but="new" />
    ${
      resetting &&
      html`<${Confirm}
        title=${t("give-up-identity-title")}
        text=${t("give-up-identity-text")}
        action=${t("change-identity")}
        onConfirm=${switchMember}
        onClose=${() => setResetting(false)}
      />`
    }
  </form>`;
}
