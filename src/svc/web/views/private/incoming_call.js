// Shows an incoming call and rings until it is accepted, declined or ended.

/** @import { Call } from "../../state/private_calls.js" */

import { acceptCall } from "../../call/private_calls.js";
import { memberOf, ownQuiet } from "../../state/people.js";
import { declineCall, ringing, whyNotSealed } from "../../state/private_calls.js";
import { html, useEffect } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { chime } from "../alerts/chimes.js";
import { closeCallNotice } from "../alerts/system_notifications.js";
import { Avatar } from "../parts/avatar.js";
import { Button } from "../parts/button.js";

const AGAIN_MS = 2500;

export function Ringing() {
  const { memberId, conversationId } = /** @type {Call} */ (ringing.value);
  const who = memberOf(memberId);
  const name = who?.nickname ?? t("somebody");
  const why = whyNotSealed();
  useEffect(() => {
    const ring = () => {
      if (!ownQuiet.peek()) chime("ring");
    };
    ring();
    const timer = setInterval(ring, AGAIN_MS);
    return () => {
      clearInterval(timer);
      closeCallNotice(conversationId);
    };
  }, []);
  return html`<section class="ringing" role="alertdialog" aria-labelledby="ringing-words">
    <${Avatar} id=${memberId} name=${name} url=${who?.avatar} size="small" />
    <p id="ringing-words" dir="auto">
      ${t("private-call-rings", { name })}${why && html`<br /><small>${why}</small>`}
    </p>
    <p class="buttons">
      ${
        !why &&
        html`<${Button} look="primary" icon="call" onClick=${acceptCall}>${t("private-call-take")}<//>`
      }
      <${Button} look="danger" onClick=${declineCall}>${t("private-call-decline")}<//>
    </p>
  </section>`;
}
