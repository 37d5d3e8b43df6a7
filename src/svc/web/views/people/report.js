// Shows the dialog for reporting a member or a message to the moderators.

/** @import { Message } from "../../types/api.js" */
/** @import { PrivateMessage } from "../private/message_adapter.js" */
/** @import { RefObject } from "../../vendor/preact.js" */

import { notify } from "../../state/notices.js";
import { report } from "../../state/own_account.js";
import { memberOf } from "../../state/people.js";
import { privateClient } from "../../state/private_client.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { quoted } from "../conversation/message.js";
import { useFormRequest } from "../admin/parts/form_request.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Field } from "../parts/field.js";

const MAX_LENGTH = 1000;

/**
 * The dialog for reporting `message` or, without one, the member with the id `memberId`.
 * @param {{message?: Message | PrivateMessage | null, memberId?: string, onClose: () => void}} props
 */
export function Report({ message = null, memberId = "", onClose }) {
  const [text, setText] = useState("");
  const { busy, problem, setProblem, run } = useFormRequest();
  /** @type {RefObject<FormWith<"text">>} */
  const form = useRef(null);
  useLayoutEffect(() => form.current.elements.text.focus(), []);
  const secret = message?.channel_id === null ? message : null; // Null for channel messages.
  const send = async (/** @type {string} */ reason) => {
    if (secret) await (await privateClient()).report(secret, reason);
    else
      await report(
        message && message.channel_id !== null
          ? { channel_id: message.channel_id, message_id: message.id }
          : { member_id: memberId },
        reason,
      );
  };
  const name = message?.author.display_name ?? memberOf(memberId)?.nickname ?? t("somebody");
  const submit = async (/** @type {EventOn<FormWith<"text">>} */ event) => {
    event.preventDefault();
    const reason = event.currentTarget.elements.text.value.trim();
    if (!reason) {
      setProblem(t("report-missing"));
      form.current.elements.text.focus();
    } else if (await run(() => send(reason))) {
      notify(t("report-sent"), "done");
      onClose();
    }
  };
  return html`<${Dialog}
    title=${message ? t("report-message-of", { name }) : t("report-member", { name })}
    onClose=${onClose}
  >
    ${message && html`<blockquote dir="auto">${quoted(message)}</blockquote>`}
    ${secret && html`<p dir="auto">${t("private-report-reveals", { name })}</p>`}
    <form class="stack" onSubmit=${submit} novalidate ref=${form}>
      <${Field}
        label=${t("report-what")}
        hint=${t("report-hint")}
        name="text"
        multiline
        rows="4"
        maxlength=${MAX_LENGTH}
        required
        value=${text}
        onInput=${(/** @type {EventOn<HTMLTextAreaElement>} */ event) => setText(event.currentTarget.value)}
        problem=${problem}
      />
      <footer class="buttons">
        <${Button} onClick=${onClose}>${t("cancel")}<//>
        <${Button} look="primary" type="submit" disabled=${busy}>${t("report-send")}<//>
      </footer>
    </form>
  <//>`;
}
